#!lua name=spool_workers_v2
--[[
  What processes and their workers ask of Redis beside commits: who is alive, and where something is due. What is loaded
  under this name never changes; a changed file takes the next number (docs/architecture.md, "The commit").
]]

local MEMBERS_MAX = 1000

--[[
  Says that a process is alive, or that it leaves, and tells of all others.
  KEYS 1 members by when they expire, ms of Redis' time   2 what each says of itself
  ARGV 1 id   2 what it says of itself ('' when it leaves)   3 how long that holds, ms
       4 how long one that expired is told of, ms
  Result: id, ms until it expires (less than 1: since when it has), what it says of itself; and so on
]]
local function members(keys, args)
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  if args[2] == '' then
    redis.call('ZREM', keys[1], args[1])
    redis.call('HDEL', keys[2], args[1])
  else
    redis.call('ZADD', keys[1], string.format('%.0f', now + args[3]), args[1])
    redis.call('HSETNX', keys[2], args[1], args[2])
  end
  local forgotten = string.format('%.0f', now - args[4])
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', keys[1], '-inf', forgotten, 'LIMIT', 0, MEMBERS_MAX)) do
    redis.call('ZREM', keys[1], id)
    redis.call('HDEL', keys[2], id)
  end
  local found = redis.call('ZREVRANGE', keys[1], 0, MEMBERS_MAX - 1, 'WITHSCORES')
  local out = {}
  for i = 1, #found, 2 do
    out[#out + 1] = found[i]
    out[#out + 1] = found[i + 1] - now
    out[#out + 1] = redis.call('HGET', keys[2], found[i]) or ''
  end
  return out
end

-- A name that begins with the hash tag of a partition is declared for all keys of that partition. Of a cluster a call is
-- about one partition; elsewhere the first is declared for all, since as keys each of them would cost more than its answer.

local function words_of(text)
  local words = {}
  for word in string.gmatch(text, '%S+') do words[#words + 1] = word end
  return words
end

--[[
  Tells where something waits, and when the first of it is due. Where none of a question's keys is there, one command
  finds that out.
  KEYS what the keys of the first partition begin with
  ARGV 1 what those of each partition begin with
       then of each question: 'times' (a sorted set of due times) or 'stream' (all of it is due, at 0)   what the key ends
       with   numbers of the partitions among those of ARGV 1 ('' for all)
  Result: number of the question, number of the partition, ms as text; and so on
]]
local function due(_, args)
  local out, keys = {}, words_of(args[1])
  for at = 2, #args, 3 do
    local places, names = {}, {}
    if args[at + 2] == '' then
      for place = 1, #keys do places[place] = place end
    else
      for place in string.gmatch(args[at + 2], '%d+') do places[#places + 1] = tonumber(place) end
    end
    for i, place in ipairs(places) do names[i] = keys[place] .. args[at + 1] end
    if #names > 0 and redis.call('EXISTS', unpack(names)) > 0 then
      for i, name in ipairs(names) do
        local first
        if args[at] == 'stream' then
          first = redis.call('XLEN', name) > 0 and '0'
        else
          first = redis.call('ZRANGE', name, 0, 0, 'WITHSCORES')[2]
        end
        if first then
          out[#out + 1] = (at + 1) / 3
          out[#out + 1] = places[i]
          out[#out + 1] = first
        end
      end
    end
  end
  return out
end

local function names_of(keys, ending)
  local names = {}
  for i, key in ipairs(keys) do names[i] = key .. ending end
  return names
end

--[[
  Counts what waits, for operators.
  KEYS what the keys of the first partition begin with
  ARGV 1 what those of each partition begin with   2 now, ms   3, 4 what those of dead letters and of endpoints end with
  Result, of each partition where something waits: its number among those of ARGV 1, dead letters, endpoints that are due, the one that
  is so for longest, since when, ms
]]
local function backlogs(_, args)
  local out, keys = {}, words_of(args[1])
  local letters, endpoints = names_of(keys, args[3]), names_of(keys, args[4])
  local has_letters = redis.call('EXISTS', unpack(letters)) > 0
  local has_endpoints = redis.call('EXISTS', unpack(endpoints)) > 0
  for place = 1, #keys do
    local count = has_letters and redis.call('HLEN', letters[place]) or 0
    local oldest = has_endpoints
      and redis.call('ZRANGEBYSCORE', endpoints[place], '-inf', args[2], 'WITHSCORES', 'LIMIT', 0, 1) or {}
    if count > 0 or oldest[1] then
      out[#out + 1] = place
      out[#out + 1] = count
      out[#out + 1] = oldest[1] and redis.call('ZCOUNT', endpoints[place], '-inf', args[2]) or 0
      out[#out + 1] = oldest[1] or ''
      out[#out + 1] = oldest[2] or ''
    end
  end
  return out
end

--[[
  Moves what is still due into the future, so that one worker has it until then.
  KEYS 1 due times   of a queue also 2 contents, 3 who has what
  ARGV 1 now, ms   2 due again at, ms   3 the member that takes it   then the names of what it takes
  Result: what was due, its content ('' where there is none); and so on
]]
local function lease(keys, args)
  local out = {}
  for at = 4, #args do
    local name = args[at]
    local score = redis.call('ZSCORE', keys[1], name)
    if score and tonumber(score) <= tonumber(args[1]) then
      redis.call('ZADD', keys[1], args[2], name)
      if keys[3] then redis.call('HSET', keys[3], name, args[3] .. ' ' .. args[2]) end
      out[#out + 1] = name
      out[#out + 1] = keys[2] and redis.call('HGET', keys[2], name) or ''
    end
  end
  return out
end

--[[
  Makes due again what members have that ended, unless it was moved since.
  KEYS what the keys of each partition begin with
  ARGV 1 now, ms   2 those members   then of each queue what its due times end with, and what says who has them
  Result: how many
]]
local function take_back(keys, args)
  local ended = {}
  for id in string.gmatch(args[2], '%S+') do ended[id] = true end
  local count = 0
  for _, key in ipairs(keys) do
    for at = 3, #args, 2 do
      local due, holders = key .. args[at], key .. args[at + 1]
      local held = redis.call('HGETALL', holders)
      for i = 1, #held, 2 do
        local id, again = string.match(held[i + 1], '^(%S+) (%d+)$')
        if not id or ended[id] then
          local score = redis.call('ZSCORE', due, held[i])
          if id and score and tonumber(score) == tonumber(again) and tonumber(score) > tonumber(args[1]) then
            redis.call('ZADD', due, args[1], held[i])
            count = count + 1
          end
          redis.call('HDEL', holders, held[i])
        end
      end
    end
  end
  return count
end

redis.register_function('spool_members_v2', members)
redis.register_function('spool_lease_v2', lease)
redis.register_function('spool_take_back_v2', take_back)
redis.register_function { function_name = 'spool_due_v2', callback = due, flags = { 'no-writes' } }
redis.register_function { function_name = 'spool_backlogs_v2', callback = backlogs, flags = { 'no-writes' } }

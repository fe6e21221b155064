#!lua name=spool_workers_v1
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

redis.register_function('spool_members_v1', members)

#!lua name=spool_commit_v1
--[[
  Commits: each is one batch's whole effect, all or nothing (docs/architecture.md, "The commit"). Lua does not roll back,
  so everything is read and checked first; after the mark below no command can fail.

  ARGV 1 commits, each a msgpack array of these (src/engine/store/commit_call.ts makes them):
         1 the commit's id (6 bytes writer, 6 bytes count)
         2 id and version of the commit that it follows on, '' where there is none
         3 the entity's new value: header and snapshot
         4 how long that stays, ms, '' for ever
         5 now, ms         6 name for a log that begins here
         7 names of keys, the entity first; everything else has their numbers
         8 for each key the type that it must have: k string, h hash, z sorted set, s stream, - any
         9 fences, one after the other:
           L key field value          a credential epoch still has this value
           R key member score         a reminder is still due at this time
           S key field value          an account's subscriptions are still those of this version
           A key field ''             a hash has no such field
        10 writes, one after the other:
           H key n field value ...    HSET; n arguments follow
           h key n field ...          HDEL, the same
           Z key n score member ...   ZADD, the same
           z key n member ...         ZREM, the same
           D key                      UNLINK
           N key field                raise by one
           E log head oldest account type body   account event
           F queue due epochs endpoint enablement type   delivery of the event before it
           W due queue endpoint time seen        when an endpoint is due again ('' is never), unless its queue
                                      has grown beyond what it had seen: then at once
           X queue before             forgets what lies in a queue before this number
           O outbox count body        outbox message
           C key member               puts a member behind all others of an index of changes
        11 the channel on which other processes are told of this commit, '' where there are none

  The entity's value: count n, n times (commit id, version) of the last commit of each of the last writers with the
  newest first, snapshot. A writer has one commit of an entity under way at a time, so its last one is all that can
  arrive twice.

  Result, two for each commit:
         'applied', 0
         'repeated', version    this commit had arrived before
         'conflict', version    it follows on another commit than the last
         'forgotten', version   a conflict, but so many writers came since that this commit may have been applied
         'fenced', number      the fence of this number no longer holds
         'stale', 0             somebody else subscribes by now
         'malformed', why
         'elsewhere', why       of a cluster: its keys are not on this node
]]

local WRITERS_MAX = 8
local ENTRY_BYTES = 20
local HEADER_BYTES_MAX = 1 + WRITERS_MAX * ENTRY_BYTES

-- What is answered for a key of a type, and refused for one of another.
local LENGTHS = { k = 'STRLEN', h = 'HLEN', z = 'ZCARD', s = 'XLEN' }

local function is_count(text)
  return not text or string.match(text, '^%d+$') ~= nil
end

-- A number as ZADD takes it: NaN is a number to Lua and none to Redis.
local function is_score(text)
  local score = tonumber(text)
  return score ~= nil and score == score
end

-- What somebody else's commit says of one that does not follow on the last.
local function verdict_of(entity, id, expected)
  local header = redis.call('GETRANGE', entity, 0, HEADER_BYTES_MAX - 1)
  local count = #header == 0 and 0 or string.byte(header, 1)
  local version = count == 0 and 0 or struct.unpack('>I8', header, 14)
  local oldest
  for i = 1, count do
    local at = 2 + (i - 1) * ENTRY_BYTES
    local of_entry = struct.unpack('>I8', header, at + 12)
    if string.sub(header, at, at + 11) == id then return 'repeated', of_entry end
    if i == WRITERS_MAX then oldest = of_entry end
  end
  local expected_version = expected == '' and 0 or struct.unpack('>I8', expected, 13)
  if oldest and oldest > expected_version + 1 then return 'forgotten', version end
  return 'conflict', version
end

-- The greatest id that a stream ever gave, as two numbers.
local function last_id_of(stream)
  local info = redis.call('XINFO', 'STREAM', stream)
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then
      local ms, sequence = string.match(info[i + 1], '^(%d+)-(%d+)$')
      return tonumber(ms), tonumber(sequence)
    end
  end
end

-- The state of a log as this commit leaves it; nil when what is stored is no number.
local function read_head(context, head)
  local known = context.heads[head]
  if known then return known end
  local seen = redis.call('HMGET', head, 'sequence', 'last_ms', 'name')
  if not is_count(seen[1]) or not is_count(seen[2]) then return nil end
  known = { sequence = tonumber(seen[1]) or 0, last_ms = tonumber(seen[2]) or 0, is_named = seen[3], types = {} }
  context.heads[head] = known
  return known
end

-- A stream takes all of a node's size with its first entry, a copy only what the entry needs: most accounts have few events.
local function shrink(stream)
  local copy = stream .. ':copy'
  if redis.pcall('COPY', stream, copy, 'REPLACE') == 1 then redis.pcall('RENAME', copy, stream) end
end

-- Appends are tried with the id that their count gives; a count that fell behind its stream (it was lost, or only a
-- part was restored) catches up, since a refusal here would leave half a commit.
local function append_event(context, log, head, event_type, body)
  local state = context.heads[head]
  local sequence, last_ms = state.sequence + 1, math.max(state.last_ms, context.now_ms)
  local id = string.format('%.0f-%.0f', last_ms, sequence)
  if redis.pcall('XADD', log, id, 't', event_type, 'b', body).err then
    local ms, number = last_id_of(log)
    last_ms, sequence = math.max(last_ms, ms), math.max(sequence, number + 1)
    id = string.format('%.0f-%.0f', last_ms, sequence)
    redis.call('XADD', log, id, 't', event_type, 'b', body)
  end
  if sequence == 1 then shrink(log) end
  state.sequence, state.last_ms, state.types['t:' .. event_type] = sequence, last_ms, id
  context.event = { id = id, number = sequence, ms = last_ms }
end

local function write_heads(context)
  for head, state in pairs(context.heads) do
    local fields = {}
    for field, id in pairs(state.types) do
      fields[#fields + 1] = field
      fields[#fields + 1] = id
    end
    if #fields > 0 then
      local sequence, last_ms = string.format('%.0f', state.sequence), string.format('%.0f', state.last_ms)
      redis.call('HSET', head, 'sequence', sequence, 'last_ms', last_ms, unpack(fields))
      if not state.is_named then redis.call('HSET', head, 'name', context.log_name) end
    end
  end
end

local function append_tell(outbox, count, body)
  local number = redis.call('INCR', count)
  if redis.pcall('XADD', outbox, number .. '-0', 'b', body).err then
    number = string.format('%.0f', last_id_of(outbox) + 1)
    redis.call('SET', count, number)
    redis.call('XADD', outbox, number .. '-0', 'b', body)
  end
end

-- Each fence: whether it holds, and what is said where it does not.
local FENCES = {
  L = function(key, field, value)
    return tonumber(redis.call('HGET', key, field) or '0') == tonumber(value), 'fenced'
  end,
  R = function(key, member, score)
    local found = redis.call('ZSCORE', key, member)
    return found and tonumber(found) == tonumber(score), 'fenced'
  end,
  S = function(key, field, version)
    return (redis.call('HGET', key, field) or '') == version, 'stale'
  end,
  A = function(key, field)
    return redis.call('HEXISTS', key, field) == 0, 'fenced'
  end,
}

-- How many arguments follow a write; of these four the second says how many more.
local ARGUMENTS = { H = 2, h = 2, Z = 2, z = 2, D = 1, N = 2, E = 6, F = 6, W = 5, X = 2, O = 3, C = 2 }
local TAKES_MORE = { H = true, h = true, Z = true, z = true }

local function next_after(writes, at)
  local code = writes[at]
  return at + 1 + ARGUMENTS[code] + (TAKES_MORE[code] and writes[at + 2] or 0)
end

-- What a write asks of what is stored or said, beside the types of its keys: false where it is not so.
local CHECKS = {
  Z = function(context, at)
    for i = at + 3, at + 2 + context.writes[at + 2], 2 do
      if not is_score(context.writes[i]) then return false end
    end
    return true
  end,
  N = function(context, at)
    return is_count(redis.call('HGET', context.keys[context.writes[at + 1]], context.writes[at + 2]))
  end,
  E = function(context, at)
    context.has_event = true
    return read_head(context, context.keys[context.writes[at + 2]]) ~= nil
  end,
  F = function(context)
    return context.has_event
  end,
  W = function(context, at)
    local time, seen = context.writes[at + 4], context.writes[at + 5]
    return (time == '' or is_score(time)) and is_count(seen)
  end,
  X = function(context, at)
    return is_count(context.writes[at + 2])
  end,
  O = function(context, at)
    return is_count(redis.call('GET', context.keys[context.writes[at + 2]]))
  end,
}

local function many(command)
  return function(context, at)
    local writes = context.writes
    redis.call(command, context.keys[writes[at + 1]], unpack(writes, at + 3, at + 2 + writes[at + 2]))
  end
end

local WRITES = {
  H = many('HSET'),
  h = many('HDEL'),
  Z = many('ZADD'),
  z = many('ZREM'),
  D = function(context, at)
    local key = context.keys[context.writes[at + 1]]
    redis.call('UNLINK', key)
    -- A log that is dropped begins anew with the event behind it.
    if context.heads[key] then context.heads[key] = { sequence = 0, last_ms = 0, types = {} } end
  end,
  N = function(context, at)
    redis.call('HINCRBY', context.keys[context.writes[at + 1]], context.writes[at + 2], 1)
  end,
  E = function(context, at)
    local keys, writes = context.keys, context.writes
    append_event(context, keys[writes[at + 1]], keys[writes[at + 2]], writes[at + 5], writes[at + 6])
    redis.call('ZADD', keys[writes[at + 3]], 'NX', string.format('%.0f', context.event.ms), writes[at + 4])
  end,
  -- A delivery is known by its event's number, and dead under another epoch than the account's present one.
  F = function(context, at)
    local keys, writes, event = context.keys, context.writes, context.event
    local queue, epoch = keys[writes[at + 1]], redis.call('HGET', keys[writes[at + 3]], 'account') or '0'
    local body = event.id .. ' ' .. epoch .. ' ' .. writes[at + 5] .. ' ' .. writes[at + 6]
    if redis.pcall('XADD', queue, string.format('%.0f-0', event.number), 'b', body).err then
      redis.call('XADD', queue, string.format('%.0f-0', last_id_of(queue) + 1), 'b', body)
    end
    redis.call('ZADD', keys[writes[at + 2]], 'LT', context.now, writes[at + 4])
  end,
  W = function(context, at)
    local keys, writes = context.keys, context.writes
    local due_endpoints, endpoint, time = keys[writes[at + 1]], writes[at + 3], writes[at + 4]
    local newest = redis.call('XREVRANGE', keys[writes[at + 2]], '+', '-', 'COUNT', 1)[1]
    if newest and tonumber(string.match(newest[1], '^(%d+)')) > tonumber(writes[at + 5]) then
      time = math.min(tonumber(time) or context.now_ms, context.now_ms)
    end
    if time == '' then
      redis.call('ZREM', due_endpoints, endpoint)
    else
      redis.call('ZADD', due_endpoints, string.format('%.0f', time), endpoint)
    end
  end,
  X = function(context, at)
    redis.call('XTRIM', context.keys[context.writes[at + 1]], 'MINID', context.writes[at + 2])
  end,
  O = function(context, at)
    append_tell(context.keys[context.writes[at + 1]], context.keys[context.writes[at + 2]], context.writes[at + 3])
  end,
  -- A number that is greater than any that the index ever gave, also after it was dropped.
  C = function(context, at)
    local index = context.keys[context.writes[at + 1]]
    local last = redis.call('ZREVRANGE', index, 0, 0, 'WITHSCORES')[2]
    local number = string.format('%.0f', math.max(context.now_ms, (tonumber(last) or 0) + 1))
    redis.call('ZADD', index, number, context.writes[at + 2])
  end,
}

local function commit(one)
  local id, expected, value, life_ms, now, log_name = one[1], one[2], one[3], one[4], one[5], one[6]
  local keys, types, fences, writes = one[7], one[8], one[9], one[10]
  local entity = keys[1]
  for i = 1, #keys do
    local length = LENGTHS[string.sub(types, i, i)]
    if length then redis.call(length, keys[i]) end
  end
  if string.sub(redis.call('GETRANGE', entity, 0, ENTRY_BYTES), 2) ~= expected then
    return verdict_of(entity, id, expected)
  end
  for at = 1, #fences, 4 do
    local holds, verdict = FENCES[fences[at]](keys[fences[at + 1]], fences[at + 2], fences[at + 3])
    if not holds then return verdict, (at + 3) / 4 end
  end

  local context = { keys = keys, writes = writes, now = now, now_ms = tonumber(now), log_name = log_name, heads = {} }
  local at = 1
  while at <= #writes do
    local code = writes[at]
    local check = CHECKS[code]
    if check and not check(context, at) then return 'malformed', 'what ' .. code .. ' asks for' end
    at = next_after(writes, at)
  end

  -- From here on nothing can fail.
  if life_ms == '' then
    redis.call('SET', entity, value)
  else
    redis.call('SET', entity, value, 'PX', life_ms)
  end
  at = 1
  while at <= #writes do
    WRITES[writes[at]](context, at)
    at = next_after(writes, at)
  end
  write_heads(context)
  return 'applied', 0
end

-- What processes are told of a commit (src/engine/store/told_versions.ts): the entity's key and its new version.
local function telling_of(one)
  local entity = one[7][1]
  return struct.pack('>I2', #entity) .. entity .. string.sub(one[3], 2, 1 + ENTRY_BYTES)
end

-- One after the other; a fault in one is its own. Of a cluster they are of one node, as far as the caller knows.
local function commits(_, args)
  local out, packed, at, told = {}, args[1], 0, {}
  while at >= 0 do
    local one
    at, one = cmsgpack.unpack_one(packed, at)
    local ran, verdict, number = pcall(commit, one)
    if not ran then
      number = type(verdict) == 'table' and verdict.err or verdict
      verdict = string.find(number, 'non local key', 1, true) and 'elsewhere' or 'malformed'
    end
    out[#out + 1] = verdict
    out[#out + 1] = number
    local channel = one[11]
    if verdict == 'applied' and channel ~= '' then told[channel] = (told[channel] or '') .. telling_of(one) end
  end
  -- Before the answer. A user that may not publish gets no beats either, so nobody trusts what was not told.
  for channel, text in pairs(told) do redis.pcall('SPUBLISH', channel, text) end
  return out
end

--[[
  Publishes a beat behind all that was told before. Of a cluster it fails unless this node has the slots of all partitions
  that are named, and none is moving elsewhere: what lies in a moving slot may be committed on another node.
  KEYS 1 a key that is absent, of a cluster    ARGV such keys of the other partitions, the channel, the beat's number
]]
local function beat(keys, args)
  if keys[1] then redis.call('EXISTS', keys[1]) end
  for i = 1, #args - 2 do redis.call('EXISTS', args[i]) end
  return redis.call('SPUBLISH', args[#args - 1], args[#args])
end

--[[
  Takes a reminder away unless it was moved meanwhile.
  KEYS 1 due times, 2 messages    ARGV 1 member   2 the time it was due at, ms
]]
local function unremind(keys, args)
  local score = redis.call('ZSCORE', keys[1], args[1])
  if not score or tonumber(score) ~= tonumber(args[2]) then return 0 end
  redis.call('ZREM', keys[1], args[1])
  redis.call('HDEL', keys[2], args[1])
  return 1
end

--[[
  Takes events away that are older than they are kept.
  KEYS 1 the log, 2 accounts by their oldest event    ARGV 1 account   2 keep from here, ms
]]
local function trim(keys, args)
  redis.call('XTRIM', keys[1], 'MINID', args[2])
  local oldest = redis.call('XRANGE', keys[1], '-', '+', 'COUNT', 1)[1]
  if oldest then
    redis.call('ZADD', keys[2], string.match(oldest[1], '^(%d+)'), args[1])
  else
    redis.call('UNLINK', keys[1])
    redis.call('ZREM', keys[2], args[1])
  end
  return 1
end

redis.register_function({
  function_name = 'spool_commit_v1',
  callback = commits,
  flags = { 'allow-cross-slot-keys' }, -- of a cluster only the first commit's keys are declared
})
redis.register_function({
  function_name = 'spool_beat_v1',
  callback = beat,
  flags = { 'allow-cross-slot-keys' },
})
redis.register_function('spool_trim_v1', trim)
redis.register_function('spool_unremind_v1', unremind)

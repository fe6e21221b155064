#!lua name=spool_commit_v3
--[[
  One turn's whole effect, all or nothing (docs/architecture.md, "The commit"). Lua does not roll back, so everything is
  read and checked first; after the mark below no command can fail.

  KEYS   1 the entity; the others are named by their number in fences and writes
  ARGV   1 this commit's id (6 bytes writer, 6 bytes count)   2, 3 expected version and commit id ('0', '' = new)
         4 'put', or 'end' for an entity that ends            5 snapshot
         6 now, ms   7 how long an ended entity's header stays, ms   8 name for a log that begins here
         9 number of fences, then per fence:
           L key field value          a credential epoch still has this value
           R key member score         a reminder is still due at this time
           S key field value          an account's subscriptions are still those of this version
         then writes until the end:
           H key field value          HSET          h key field      HDEL
           Z key score member         ZADD          z key member     ZREM
           D key                      UNLINK        N key field      raise by one
           E log head oldest account type body   account event
           F queue wake epochs endpoint generation type   delivery of the event before it
           W wake queue endpoint time seen       when an endpoint is due again ('' is never), unless its queue
                                      has grown beyond what it had seen: then at once
           X queue before             forgets what lies in a queue before this number
           O outbox count body        outbox message
           C key member               puts a member behind all others of an index of changes

  The entity's value: count n, n times (commit id, version) of the last commit of each of the last writers with the
  newest first, snapshot. A writer has one commit of an entity under way at a time, so its last one is all that can
  arrive twice.

  Result {'applied' | 'repeated', version}, {'conflict', version}, {'guarded', number of the fence},
         {'stale', 0}: somebody else subscribes by now,
         {'forgotten', version}: a conflict, but so many writers came since that this commit may have been applied,
         {'malformed', why}
]]

local WRITERS_MAX = 8
local ENTRY_BYTES = 20

local function read_header(value)
  if not value or #value == 0 then return 0, '', {} end
  local count = string.byte(value, 1)
  local entries = {}
  for i = 1, count do
    local at = 2 + (i - 1) * ENTRY_BYTES
    entries[i] = { id = string.sub(value, at, at + 11), version = struct.unpack('>I8', value, at + 12) }
  end
  return entries[1].version, entries[1].id, entries
end

local function write_header(id, version, entries)
  local writer = string.sub(id, 1, 6)
  local parts = { '', id, struct.pack('>I8', version) }
  local count = 1
  for _, entry in ipairs(entries) do
    if count < WRITERS_MAX and string.sub(entry.id, 1, 6) ~= writer then
      count = count + 1
      parts[#parts + 1] = entry.id
      parts[#parts + 1] = struct.pack('>I8', entry.version)
    end
  end
  parts[1] = string.char(count)
  return table.concat(parts)
end

-- Per write: how many arguments follow it, and the types that its keys must have (by position of the argument).
local WRITES = {
  H = { 3, { 'hash' } },
  h = { 2, { 'hash' } },
  Z = { 3, { 'zset' } },
  z = { 2, { 'zset' } },
  D = { 1, {} },
  N = { 2, { 'hash' } },
  E = { 6, { 'stream', 'hash', 'zset' } },
  F = { 6, { 'stream', 'zset', 'hash' } },
  W = { 5, { 'zset', 'stream' } },
  X = { 2, { 'stream' } },
  O = { 3, { 'stream', 'string' } },
  C = { 2, { 'zset' } },
}

-- A number as ZADD takes it: NaN is a number to Lua and none to Redis.
local function is_score(text)
  local score = tonumber(text)
  return score ~= nil and score == score
end

local function is_count(text)
  return not text or string.match(text, '^%d+$') ~= nil
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

-- Appends are tried with the id that their count gives; a count that fell behind its stream (it was lost, or only a
-- part was restored) catches up, since a refusal here would leave half a commit.
local function append_event(log, head, now_ms, log_name, event_type, body)
  local seen = redis.call('HMGET', head, 'sequence', 'last_ms', 'epoch')
  local sequence = (tonumber(seen[1]) or 0) + 1
  local last_ms = math.max(tonumber(seen[2]) or 0, now_ms)
  local id = string.format('%.0f-%.0f', last_ms, sequence)
  if redis.pcall('XADD', log, id, 't', event_type, 'b', body).err then
    local ms, number = last_id_of(log)
    last_ms, sequence = math.max(last_ms, ms), math.max(sequence, number + 1)
    id = string.format('%.0f-%.0f', last_ms, sequence)
    redis.call('XADD', log, id, 't', event_type, 'b', body)
  end
  redis.call('HSET', head, 'sequence', string.format('%.0f', sequence), 'last_ms', string.format('%.0f', last_ms),
    't:' .. event_type, id)
  if not seen[3] then redis.call('HSET', head, 'epoch', log_name) end
  return last_ms, sequence
end

-- A delivery is known by its event's number; `event` is the one appended last. `life` is the account's credential epoch.
local function append_delivery(inbox, wake, life, endpoint, generation, event_type, event, now_ms)
  local body = string.format('%s %s %s %s', event.id, life, generation, event_type)
  if redis.pcall('XADD', inbox, string.format('%.0f-0', event.number), 'b', body).err then
    redis.call('XADD', inbox, string.format('%.0f-0', last_id_of(inbox) + 1), 'b', body)
  end
  redis.call('ZADD', wake, 'LT', string.format('%.0f', now_ms), endpoint)
end

local function set_wake(wake, inbox, endpoint, time, seen, now_ms)
  local newest = redis.call('XREVRANGE', inbox, '+', '-', 'COUNT', 1)[1]
  if newest and tonumber(string.match(newest[1], '^(%d+)')) > tonumber(seen) then
    time = math.min(tonumber(time) or now_ms, now_ms)
  end
  if time == '' then
    redis.call('ZREM', wake, endpoint)
  else
    redis.call('ZADD', wake, string.format('%.0f', time), endpoint)
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

-- A number that is greater than any that the index ever gave, also after it was dropped.
local function mark_changed(index, member, now_ms)
  local last = redis.call('ZREVRANGE', index, 0, 0, 'WITHSCORES')[2]
  redis.call('ZADD', index, string.format('%.0f', math.max(now_ms, (tonumber(last) or 0) + 1)), member)
end

local function commit(keys, args)
  local entity, id, expected_version, expected_id = keys[1], args[1], tonumber(args[2]), args[3]
  local mode, snapshot, now_ms, ended_ms, log_name = args[4], args[5], tonumber(args[6]), tonumber(args[7]), args[8]

  local kinds = {}
  local function kind_of(key)
    if not kinds[key] then kinds[key] = redis.call('TYPE', key).ok end
    return kinds[key]
  end
  local function is(key, kind)
    local found = kind_of(key)
    return found == 'none' or found == kind
  end

  if not is(entity, 'string') then return { 'malformed', 'entity is a ' .. kind_of(entity) } end
  local version, last_id, entries = read_header(redis.call('GET', entity) or '')
  for _, entry in ipairs(entries) do
    if entry.id == id then return { 'repeated', entry.version } end
  end
  if version ~= expected_version or last_id ~= expected_id then
    local oldest = entries[WRITERS_MAX]
    if oldest and oldest.version > expected_version + 1 then return { 'forgotten', version } end
    return { 'conflict', version }
  end

  local at = 10
  for guard = 1, tonumber(args[9]) do
    local code, key, field, value = args[at], keys[tonumber(args[at + 1])], args[at + 2], args[at + 3]
    if code == 'L' then
      if not is(key, 'hash') then return { 'malformed', key .. ' is a ' .. kind_of(key) } end
      if tonumber(redis.call('HGET', key, field) or '0') ~= tonumber(value) then return { 'guarded', guard } end
    elseif code == 'R' then
      if not is(key, 'zset') then return { 'malformed', key .. ' is a ' .. kind_of(key) } end
      local score = redis.call('ZSCORE', key, field)
      if not score or tonumber(score) ~= tonumber(value) then return { 'guarded', guard } end
    elseif code == 'S' then
      if not is(key, 'hash') then return { 'malformed', key .. ' is a ' .. kind_of(key) } end
      if (redis.call('HGET', key, field) or '') ~= value then return { 'stale', 0 } end
    else
      return { 'malformed', 'unknown guard' }
    end
    at = at + 4
  end

  local first_write, has_event = at, false
  while at <= #args do
    local write = WRITES[args[at]]
    if not write then return { 'malformed', 'unknown write' } end
    if at + write[1] > #args then return { 'malformed', 'cut short' } end
    for i, kind in ipairs(write[2]) do
      local key = keys[tonumber(args[at + i])]
      if not key then return { 'malformed', 'undeclared key' } end
      if not is(key, kind) then return { 'malformed', key .. ' is a ' .. kind_of(key) } end
    end
    if args[at] == 'Z' and not is_score(args[at + 2]) then return { 'malformed', 'score' } end
    if args[at] == 'N' and not is_count(redis.call('HGET', keys[tonumber(args[at + 1])], args[at + 2])) then
      return { 'malformed', 'not a number' }
    end
    if args[at] == 'O' and not is_count(redis.call('GET', keys[tonumber(args[at + 2])])) then
      return { 'malformed', 'not a number' }
    end
    if args[at] == 'E' then
      local seen = redis.call('HMGET', keys[tonumber(args[at + 2])], 'sequence', 'last_ms')
      if not is_count(seen[1]) or not is_count(seen[2]) then return { 'malformed', 'not a number' } end
    end
    if args[at] == 'E' then has_event = true end
    if args[at] == 'F' and not has_event then return { 'malformed', 'a delivery of nothing' } end
    if args[at] == 'W' and not ((args[at + 4] == '' or is_score(args[at + 4])) and is_count(args[at + 5])) then
      return { 'malformed', 'score' }
    end
    if args[at] == 'X' and not is_count(args[at + 2]) then return { 'malformed', 'not a number' } end
    if args[at] == 'D' and not keys[tonumber(args[at + 1])] then return { 'malformed', 'undeclared key' } end
    at = at + write[1] + 1
  end
  if mode ~= 'put' and mode ~= 'end' then return { 'malformed', 'mode' } end

  -- From here on nothing can fail.
  version = version + 1
  local value = write_header(id, version, entries) .. snapshot
  if mode == 'put' then
    redis.call('SET', entity, value)
  else
    redis.call('SET', entity, value, 'PX', string.format('%.0f', ended_ms))
  end
  at = first_write
  local event -- the one appended last
  while at <= #args do
    local code, key = args[at], keys[tonumber(args[at + 1])]
    if code == 'H' then
      redis.call('HSET', key, args[at + 2], args[at + 3])
    elseif code == 'h' then
      redis.call('HDEL', key, args[at + 2])
    elseif code == 'Z' then
      redis.call('ZADD', key, args[at + 2], args[at + 3])
    elseif code == 'z' then
      redis.call('ZREM', key, args[at + 2])
    elseif code == 'D' then
      redis.call('UNLINK', key)
    elseif code == 'N' then
      redis.call('HINCRBY', key, args[at + 2], 1)
    elseif code == 'E' then
      local ms, number = append_event(key, keys[tonumber(args[at + 2])], now_ms, log_name, args[at + 5], args[at + 6])
      event = { id = string.format('%.0f-%.0f', ms, number), number = number }
      redis.call('ZADD', keys[tonumber(args[at + 3])], 'NX', string.format('%.0f', ms), args[at + 4])
    elseif code == 'F' then
      local life = redis.call('HGET', keys[tonumber(args[at + 3])], 'account') or '0'
      append_delivery(key, keys[tonumber(args[at + 2])], life, args[at + 4], args[at + 5], args[at + 6], event, now_ms)
    elseif code == 'W' then
      set_wake(key, keys[tonumber(args[at + 2])], args[at + 3], args[at + 4], args[at + 5], now_ms)
    elseif code == 'X' then
      redis.call('XTRIM', key, 'MINID', args[at + 2])
    elseif code == 'O' then
      append_tell(key, keys[tonumber(args[at + 2])], args[at + 3])
    elseif code == 'C' then
      mark_changed(key, args[at + 2], now_ms)
    end
    at = at + WRITES[code][1] + 1
  end
  return { 'applied', version }
end

--[[
  Takes what is due in a sorted set and moves it into the future, so that one worker has it until then.
  KEYS 1 due times, 2 contents    ARGV 1 now, ms   2 due again at, ms   3 how many
  Result: member, content, member, content, …
]]
local function lease(keys, args)
  local due = redis.call('ZRANGEBYSCORE', keys[1], '-inf', args[1], 'LIMIT', 0, args[3])
  local out = {}
  for _, member in ipairs(due) do
    redis.call('ZADD', keys[1], args[2], member)
    out[#out + 1] = member
    out[#out + 1] = redis.call('HGET', keys[2], member) or ''
  end
  return out
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

redis.register_function('spool_commit_v3', commit)
redis.register_function('spool_trim_v3', trim)
redis.register_function('spool_lease_v3', lease)
redis.register_function('spool_unremind_v3', unremind)

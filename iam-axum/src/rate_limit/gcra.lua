-- Counts a request by the generic cell rate algorithm (GCRA). All times are in microseconds.
--
-- KEYS[1] holds the time at which the next request would be due if requests came at even intervals. It expires when
-- that time is past. ARGV[1] is the interval. ARGV[2] is how many requests may come at once. ARGV[3] is how many
-- requests this one counts as. ARGV[4] is the present time; without it, the script uses the clock of this server.
--
-- Returns how many more requests may come right away, and by how much time this one is too early: 0 if it is counted.
local interval, limit, cost, now = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
end
local due = tonumber(redis.call('GET', KEYS[1]) or now)
local next = math.max(due, now) + cost * interval
local room = now + limit * interval - next
if room < 0 then
    return {0, -room}
end
-- Lua's default conversion to text would lose the last digits of a number of this size.
redis.call('SET', KEYS[1], string.format('%.0f', next), 'PX', math.ceil((next - now) / 1000))
return {math.floor(room / interval), 0}

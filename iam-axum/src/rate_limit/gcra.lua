-- Counts a request by the generic cell rate algorithm, all of it in microseconds.
--
-- KEYS[1] holds when the next request would be due if they came evenly. It expires when that is past.
-- ARGV[1] is how far apart such requests are, ARGV[2] how many may come at once, ARGV[3] as how many this one counts,
-- ARGV[4] the present moment, where it is not the clock of this server that counts.
--
-- Answers how many more may come right away, and how long this one is too early: 0 where it is counted.
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
-- As text a number of this size would lose its last digits.
redis.call('SET', KEYS[1], string.format('%.0f', next), 'PX', math.ceil((next - now) / 1000))
return {math.floor(room / interval), 0}

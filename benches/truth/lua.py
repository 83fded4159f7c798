"""A scripting language with an incremental collector: a cache of records by zipf."""

from truth.program import Script

SCRIPT = '''
-- Records of a customer each, found by name, some renewed; the collector walks what is live again and again.
local RECORDS, EXPONENT = 200000, 1.1
math.randomseed(tonumber(arg[1]))
local sums, total = {}, 0
for rank = 1, RECORDS do
    total = total + rank ^ -EXPONENT
    sums[rank] = total
end
local function draw()
    local want, low, high = math.random() * total, 1, RECORDS
    while low < high do
        local middle = (low + high) // 2
        if sums[middle] < want then low = middle + 1 else high = middle end
    end
    return low * 7919 % RECORDS
end
local function record(id)
    return { name = "customer " .. id, orders = { id, id * 3, id * 7 }, text = string.rep(tostring(id), 20), seen = 0 }
end
local records = {}
for id = 0, RECORDS - 1 do records["key:" .. id] = record(id) end
while true do
    local key = "key:" .. draw()
    local found = records[key]
    found.seen = found.seen + #found.orders
    if math.random() < 0.05 then records[key] = record(draw()) end
end
'''


class Lua(Script):
    """Small objects of a heap that a collector marks and sweeps."""

    name = "lua"
    about = "lua5.4, 200,000 records in a table, looked up by zipf 1.1, 5 % renewed, the collector beside it"
    file = "cache.lua"
    text = SCRIPT
    packages = ("lua5.4",)
    fill_seconds = 70

    def command(self, place):
        return ["lua5.4", str(self.script(place)), str(place.seed)]

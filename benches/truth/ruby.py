"""A Ruby program whose hot memory is always new: events of the last minutes."""

from truth.program import Script

SCRIPT = '''
# Events come in, those of the last slots are looked up most, and the oldest slot is dropped.
SLOTS, EVENTS, RECENT, LOOKUPS = 60, 12_000, 4, 100
Event = Struct.new(:id, :user, :amount, :text)
random = Random.new(ARGV[0].to_i)
slots, sum, id = [], 0, 0

loop do
  slot = {}
  slots.push(slot)
  slots.shift if slots.size > SLOTS
  EVENTS.times do
    id += 1
    slot[id] = Event.new(id, random.rand(50_000), random.rand(1000), "event #{id} ".ljust(120, "."))
    # Nine of ten look-ups go to the last slots, the others to any; none while they are filled.
    (slots.size < SLOTS ? 0 : LOOKUPS).times do
      back = random.rand(10) == 0 ? random.rand(slots.size) : random.rand([RECENT, slots.size].min)
      of = slots[-1 - back]
      first = id - (id - 1) % EVENTS - back * EVENTS
      event = of[first + random.rand(EVENTS)]
      sum += event.amount + event.text.getbyte(event.id % 100) if event
    end
  end
end
'''


class Ruby(Script):
    """Memory that is hot when it is born, cools and dies."""

    name = "ruby"
    about = "Ruby, 60 slots of 12,000 events, nine of ten look-ups to the last four"
    file = "events.rb"
    text = SCRIPT
    packages = ("ruby",)
    fill_seconds = 60

    def command(self, place):
        return ["ruby", str(self.script(place)), str(place.seed)]

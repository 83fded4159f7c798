"""A JavaScript program: a cache of sessions that drops what was not used for longest."""

from truth.program import Script

SCRIPT = '''
// Sessions in a Map, which keeps the order of insertion: what is used goes to its end, what is oldest is dropped.
const SESSIONS = 150000, USERS = 600000, EXPONENT = 0.9;
let state = Number(process.argv[2]);

function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 4294967296;
}

const sums = new Float64Array(USERS);
for (let rank = 0, sum = 0; rank < USERS; rank++) {
  sum += Math.pow(rank + 1, -EXPONENT);
  sums[rank] = sum;
}

function draw() {
  const want = random() * sums[USERS - 1];
  let low = 0, high = USERS - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle] < want) low = middle + 1; else high = middle;
  }
  return low * 7919 % USERS;
}

function session(user) {
  const basket = [];
  for (let i = 0; i < 8; i++) basket.push({ article: (user * 31 + i * 7) % 50000, count: 1 + i % 3, price: user % 100 + 0.5 });
  return { user: "user " + user, basket, pages: [], token: (user * 2654435761 % 4294967296).toString(16).repeat(12) };
}

const sessions = new Map();
let sum = 0;
for (;;) {
  const user = draw();
  let found = sessions.get(user);
  if (found) sessions.delete(user); else found = session(user);
  sessions.set(user, found);
  for (const { count, price } of found.basket) sum += count * price;
  found.pages.push(sum % 1000);
  if (found.pages.length > 20) found.pages = [];
  if (sessions.size > SESSIONS) sessions.delete(sessions.keys().next().value);
}
'''


class Node(Script):
    """Young objects that a collector copies, old ones that it marks."""

    name = "node"
    about = "Node.js, 150,000 sessions of 600,000 users, least recently used dropped, zipf 0.9"
    file = "sessions.js"
    text = SCRIPT
    packages = ("nodejs",)
    fill_seconds = 60

    def command(self, place):
        return ["node", "--max-old-space-size=1500", str(self.script(place)), str(place.seed)]

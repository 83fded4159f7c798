"""An OCaml program: a balanced tree that never changes in place, so that each change makes a new path."""

import subprocess

from truth.program import Script, kept

SCRIPT = '''
(* Accounts in a map, looked up by zipf; one in ten is replaced, and the last thousand maps are kept. *)
module Map = Map.Make (Int)

type account = { name : string; mutable seen : int; history : int list }

let accounts = 400_000

let () =
  Random.init (int_of_string Sys.argv.(1));
  let sums = Array.make accounts 0. in
  let sum = ref 0. in
  for rank = 0 to accounts - 1 do
    sum := !sum +. (float_of_int (rank + 1) ** -0.9);
    sums.(rank) <- !sum
  done;
  let draw () =
    let want = Random.float !sum in
    let low = ref 0 and high = ref (accounts - 1) in
    while !low < !high do
      let middle = (!low + !high) / 2 in
      if sums.(middle) < want then low := middle + 1 else high := middle
    done;
    !low * 7919 mod accounts
  in
  let account id = { name = Printf.sprintf "account %d of the bank" id; seen = 0; history = [ id; id + 1; id + 2 ] } in
  let now = ref Map.empty in
  for id = 0 to accounts - 1 do
    now := Map.add id (account id) !now
  done;
  let before = Array.make 1000 Map.empty in
  let step = ref 0 in
  while true do
    let id = draw () in
    let found = Map.find id !now in
    found.seen <- found.seen + List.fold_left ( + ) 0 found.history;
    if Random.int 10 = 0 then begin
      incr step;
      before.(!step mod 1000) <- !now;
      now := Map.add id { found with history = !step :: found.history |> List.filteri (fun i _ -> i < 8) } !now
    end
  done
'''


class Ocaml(Script):
    """Tree nodes of 48 bytes that a generational collector copies and an incremental one marks."""

    name = "ocaml"
    about = "OCaml 4.13, a map of 400,000 accounts, zipf 0.9, scattered, a tenth replaced, the last 1,000 maps kept"
    file = "accounts.ml"
    text = SCRIPT
    packages = ("ocaml-nox",)
    fill_seconds = 60

    def program(self, place):
        return place.inputs / "accounts"

    def prepare(self, place):
        super().prepare(place)
        make = lambda half: subprocess.run(["ocamlopt", "-o", str(half), str(self.script(place))], check=True)
        kept(self.program(place), make)

    def command(self, place):
        return [str(self.program(place)), str(place.seed)]

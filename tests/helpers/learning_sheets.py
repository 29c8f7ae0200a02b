"""Small rule sheets on which learning is tested: one player, three players, a common interest."""

# Five digits of a lock, each 1, 2 or 3, within eight tries; 20 points for each correct digit.
LOCK = """
(role player)
(digit 1) (digit 2) (digit 3)
(code 0 3 1) (code 1 1 2) (code 2 2 3) (code 3 3 4) (code 4 1 5)
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8)
(init (opened 0)) (init (tries 0))
(<= (legal player (try ?digit)) (digit ?digit))
(<= (next (tries ?n)) (true (tries ?m)) (succ ?m ?n))
(<= right (true (opened ?k)) (does player (try ?digit)) (code ?k ?digit ?next))
(<= (next (opened ?next)) (true (opened ?k)) (does player (try ?digit)) (code ?k ?digit ?next))
(<= (next (opened ?k)) (true (opened ?k)) (not right))
(<= terminal (true (opened 5)))
(<= terminal (true (tries 8)))
(points 0 0) (points 1 20) (points 2 40) (points 3 60) (points 4 80) (points 5 100)
(<= (goal player ?points) (true (opened ?k)) (points ?k ?points))
"""

# Nim for three players with ten sticks: they take one to three in turn, and the last stick wins.
NIM = """
(role a) (role b) (role c)
(after a b) (after b c) (after c a)
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8) (succ 8 9)
(succ 9 10)
(init (sticks 10)) (init (control a))
(<= (minus ?m 1 ?n) (succ ?n ?m))
(<= (minus ?m 2 ?n) (succ ?k ?m) (succ ?n ?k))
(<= (minus ?m 3 ?n) (succ ?l ?m) (succ ?k ?l) (succ ?n ?k))
(<= (legal ?player (take ?k)) (true (control ?player)) (true (sticks ?m)) (minus ?m ?k ?n))
(<= (legal ?player noop) (role ?player) (not (true (control ?player))))
(<= (next (sticks ?n)) (true (sticks ?m)) (does ?player (take ?k)) (minus ?m ?k ?n))
(<= (next (control ?next)) (true (control ?player)) (after ?player ?next))
(<= terminal (true (sticks 0)))
(<= (last ?player) (true (control ?next)) (after ?player ?next))
(<= (goal ?player 100) (true (sticks 0)) (last ?player))
(<= (goal ?player 0) (role ?player) (not (last ?player)))
(<= (goal ?player 0) (role ?player) (not (true (sticks 0))))
"""

# Stag hunt of two players who choose in turn, twice: 50 points each time for both if both hunt the
# stag; a hare is worth 20 points to its hunter, and a stag hunted alone nothing. The best policy of
# either player is the stag, unless the other one has chosen the hare.
STAG_HUNT = """
(role a) (role b)
(prey stag) (prey hare)
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
(turn a 0) (turn b 1) (turn a 2) (turn b 3)
(init (ply 0))
(<= (legal ?player ?prey) (true (ply ?n)) (turn ?player ?n) (prey ?prey))
(<= (legal ?player noop) (role ?player) (true (ply ?n)) (not (turn ?player ?n)))
(<= (next (ply ?m)) (true (ply ?n)) (succ ?n ?m))
(<= (next (chosen ?n ?prey)) (true (ply ?n)) (does ?player ?prey) (prey ?prey))
(<= (next (chosen ?n ?prey)) (true (chosen ?n ?prey)))
(<= terminal (true (ply 4)))
(round a 0 1) (round b 1 0) (round a 2 3) (round b 3 2)
(worth stag stag 50) (worth stag hare 0) (worth hare stag 20) (worth hare hare 20)
(<= (won ?player ?n ?points)
    (round ?player ?n ?m) (true (chosen ?n ?own)) (true (chosen ?m ?other))
    (worth ?own ?other ?points))
(sum 0 0 0) (sum 0 20 20) (sum 0 50 50) (sum 20 20 40) (sum 20 0 20) (sum 50 0 50)
(sum 20 50 70) (sum 50 20 70) (sum 50 50 100)
(first a 0 2) (first b 1 3)
(<= (goal ?player ?points)
    (first ?player ?n ?m) (won ?player ?n ?one) (won ?player ?m ?two) (sum ?one ?two ?points))
(<= (goal ?player 0) (role ?player) (not (true (ply 4))))
"""

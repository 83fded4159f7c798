"""Numerical work in Octave: a sparse system solved again and again by GMRES."""

from truth.program import Script

SCRIPT = '''
% The matrix and the newest vectors are read in every step, older vectors of the basis in each step after them.
n = 300000; per_row = 6; restart = 40;
rand("seed", str2double(argv(){1})); randn("seed", 1);
rows = repmat((1:n)', per_row, 1);
near = mod(rows + floor(200 * randn(n * per_row, 1)), n) + 1;
A = sparse(rows, near, -0.1 * rand(n * per_row, 1), n, n) + speye(n) * 2;
b = rand(n, 1); x = zeros(n, 1);
while true
  r = b - A * x; beta = norm(r);
  V = zeros(n, restart + 1); V(:, 1) = r / beta; H = zeros(restart + 1, restart);
  for j = 1:restart
    w = A * V(:, j);
    for i = 1:j
      H(i, j) = V(:, i)' * w;
      w -= H(i, j) * V(:, i);
    end
    H(j + 1, j) = norm(w);
    V(:, j + 1) = w / H(j + 1, j);
  end
  e = zeros(restart + 1, 1); e(1) = beta;
  x += V(:, 1:restart) * (H \\ e);
  b = rand(n, 1);
end
'''


class Octave(Script):
    """Vectors that are read in order, the first ones forty times as often as the last."""

    name = "octave"
    about = "GNU Octave, GMRES(40) on a sparse matrix of 300,000 rows"
    file = "gmres.m"
    text = SCRIPT
    packages = ("octave",)
    fill_seconds = 90

    def environment(self, place):
        return {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

    def command(self, place):
        return ["octave-cli", "--no-gui", "--norc", "--no-history", str(self.script(place)), str(place.seed)]

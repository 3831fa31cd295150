// -- gp: curves and likelihoods, computed on the spot --------------------------------------------------------
//
// A curve is f(x) = phi(x) . w with w ~ N(0, I). A course enters through its information
// A = Phi^T R^-1 Phi and b = Phi^T R^-1 (y - mean), which adds up over courses. The page carries phi at every time.

/** Lower Cholesky factor of a symmetric matrix (n x n, row after row), in its place. */
function cholesky(matrix, n) {
  for (let j = 0; j < n; j += 1) {
    for (let i = j; i < n; i += 1) {
      let sum = matrix[i * n + j];
      for (let k = 0; k < j; k += 1) sum -= matrix[i * n + k] * matrix[j * n + k];
      matrix[i * n + j] = i === j ? Math.sqrt(sum) : sum / matrix[j * n + j];
    }
  }
  return matrix;
}

/** Solution x of L x = b, for a lower triangular L. */
function forward(lower, b, n) {
  const x = new Float64Array(n);
  for (let i = 0; i < n; i += 1) {
    let sum = b[i];
    for (let k = 0; k < i; k += 1) sum -= lower[i * n + k] * x[k];
    x[i] = sum / lower[i * n + i];
  }
  return x;
}

/** Solution x of L^T x = b, for a lower triangular L. */
function backward(lower, b, n) {
  const x = new Float64Array(n);
  for (let i = n - 1; i >= 0; i -= 1) {
    let sum = b[i];
    for (let k = i + 1; k < n; k += 1) sum -= lower[k * n + i] * x[k];
    x[i] = sum / lower[i * n + i];
  }
  return x;
}

/** Sum of the products of two vectors. */
function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += a[i] * b[i];
  return sum;
}

/** Value at a time on the clock of the polynomials through the nodes, one for each feature (barycentric formula). */
function interpolated({ nodes, phi, rank }, time) {
  const result = new Float64Array(rank);
  let total = 0;
  for (let j = 0; j < nodes.length; j += 1) {
    if (time === nodes[j]) return Float64Array.from(phi.subarray(j * rank, (j + 1) * rank));
    const sign = j % 2 ? -1 : 1;
    const weight = (sign * Math.sin((Math.PI * (2 * j + 1)) / (2 * nodes.length))) / (time - nodes[j]);
    total += weight;
    for (let d = 0; d < rank; d += 1) result[d] += weight * phi[j * rank + d];
  }
  return result.map((sum) => sum / total);
}

/** The features of each value of a course, one array a value. */
function featuresOf(data, course) {
  const { rank, phi, nodes } = data.features;
  if (nodes) return Array.from(course.times, (time) => interpolated(data.features, clockTime(data, time)));
  return Array.from(course.rows, (row) => phi.subarray(row * rank, (row + 1) * rank));
}

/** The information of several courses on one curve: I + A, and b. */
function information(data, courses) {
  const { rank } = data.features;
  const precision = new Float64Array(rank * rank);
  const b = new Float64Array(rank);
  for (let i = 0; i < rank; i += 1) precision[i * rank + i] = 1;
  for (const course of courses) {
    featuresOf(data, course).forEach((phi, v) => {
      for (let i = 0; i < rank; i += 1) {
        const weighted = phi[i] / course.noise[v];
        b[i] += weighted * course.residuals[v];
        for (let j = 0; j <= i; j += 1) precision[i * rank + j] += weighted * phi[j];
      }
    });
  }
  return { precision, b };
}

/** Mean and standard deviation, at the times of the grid, of one curve for all the courses; null without a basis. */
function sharedCurve(data, courses, wantSd = true) {
  if (!data.features) return null;
  const { rank, grid } = data.features;
  const { precision, b } = information(data, courses);
  const lower = cholesky(precision, rank);
  const weights = backward(lower, forward(lower, b, rank), rank);
  const mean = new Float64Array(data.grid.length);
  const sd = new Float64Array(data.grid.length);
  for (let t = 0; t < mean.length; t += 1) {
    const phi = grid.subarray(t * rank, (t + 1) * rank);
    mean[t] = data.mean + dot(phi, weights);
    if (wantSd) {
      const solved = forward(lower, phi, rank);
      sd[t] = Math.sqrt(dot(solved, solved));
    }
  }
  return { mean, sd };
}

/** log p(y_k | y_1 ... y_k-1) for each k, up to the constant in pi: the rows of the Cholesky factor. */
function nextValueDensities(covariance, residuals) {
  const n = residuals.length;
  const lower = cholesky(covariance, n);
  const solved = forward(lower, residuals, n);
  return solved.map((x, k) => -(x * x) / 2 - Math.log(lower[k * n + k]));
}

/** Covariance of the values of courses that share a curve, noise included. */
function covarianceOf(data, courses) {
  const features = courses.flatMap((course) => featuresOf(data, course));
  const noise = courses.flatMap((course) => Array.from(course.noise));
  const n = features.length;
  const matrix = new Float64Array(n * n);
  for (let i = 0; i < n; i += 1) {
    for (let j = 0; j <= i; j += 1) matrix[i * n + j] = dot(features[i], features[j]);
    matrix[i * n + i] += noise[i];
  }
  return matrix;
}

/** Gain in predicting each next value of `asked` from knowing `known`. */
function gains(data, known, asked) {
  const both = Float64Array.of(...known.residuals, ...asked.residuals);
  const together = nextValueDensities(covarianceOf(data, [known, asked]), both).subarray(known.residuals.length);
  const alone = nextValueDensities(covarianceOf(data, [asked]), asked.residuals);
  return together.map((density, k) => density - alone[k]);
}

/**
 * How much each value of two courses adds to their similarity, and the similarity itself; null without a basis.
 * The sum is the same whichever is predicted from the other, so the two readings are averaged.
 */
function explain(data, first, second) {
  if (!data.features) return null;
  const contributions = [gains(data, second, first), gains(data, first, second)].map((g) => g.map((x) => x / 2));
  const s = contributions.reduce((sum, part) => sum + part.reduce((a, b) => a + b, 0), 0);
  return { contributions, s };
}

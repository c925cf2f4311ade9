"""Every numerical tolerance of the package, each with its reason. All are relative unless a comment says not.

Natural units: a margin is measured against 1 (the target y f(x) = 1), a multiplier against its cap,
the path parameter t against the length 1 of its line.
"""

from __future__ import annotations

#: Squared distances from products of samples are made again from differences where the terms that cancel exceed what is
#: left by more than this: at most four bits more than differences lose.
CANCELLED = 16.0

#: The largest kernel value may be from 1 / this to this, the largest number in X from and to the roots of these: sums
#: over many pairs of samples, times costs, are then numbers.
LARGEST_SQUARE = 1e280

#: Costs are at most this, and the sum of costs times the largest length is at most the second: its square is a term of
#: the objective.
LARGEST_COST, LARGEST_PULL = 1e140, 1e150

#: Features further from 0 than this many spreads of the samples are measured from amid the samples (where the problem
#: allows it): products of such lose more than twice its digits, 4 of the 16.
FAR = 100.0

#: Pivots of the pivoted Cholesky factor below this share of the largest diagonal end the factorisation;
#: the dual objective then agrees with the full Gram to about 1e-15 (measured on RBF kernels).
FACTOR_RANK = 1e-10

#: Features for a kernel: columns computed one at a time are rounded apart from each other, kernels of distances by
#: as much as the squared norms times 1e-16. A remainder below minus this share of the largest diagonal entry, or two
#: orders of arguments that differ by more, is no rounding: the function is not a kernel.
COLUMN_NOISE = 1e-8

#: Features for a kernel: a pivot that was taken once, above FACTOR_RANK, is taken again on another machine down to this
#: share of that threshold.
PIVOT_AGAIN = 0.5

#: A Gram is called "not positive semidefinite" when its smallest eigenvalue is below minus this share of the
#: largest one: rounding of a valid kernel matrix stays below n * 2e-16.
GRAM_PSD = 1e-10

#: A precomputed Gram is called "not symmetric" beyond this share of its largest entry.
GRAM_SYMMETRY = 1e-12

#: Entries of the matrix of a quadratic program are rounded: so many units in the last place of its diagonal, times the
#: square of the k rows of a connected block, make good what that can take from its eigenvalues. A sum of k products
#: is off by k units at most, an eigenvalue by k times that, and a proof by Cholesky's algorithm takes as much again.
PSD_SHARE = 16.0

#: Entries of a matrix that mirror each other are one number where they differ by no more than so many units in the last
#: place of what they can be at most, the root of the product of the two diagonal entries.
SAME_MIRRORED = 4 * 2.0**-52

#: A kernel matrix that is given to a certificate: this share of its largest entry, times n, is rounding of its
#: eigenvalues (entries rounded to 1e-16 move them by less).
KERNEL_ROUNDING = 1e-15

#: Certificate threshold for a path point (largest scaled residual and relative duality gap).
CERTIFY = 1e-8

#: Coefficients of the samples imply a slope but for this share of it: what a kernel's own rounding leaves.
IMPLIED = 1e-12

#: Answers worked out by hand have four digits: of rounding in the fifth three are left.
HOMEWORK = 1e-3

#: A path whose largest cap times the largest kernel value, times this, exceeds CERTIFY is steep: rounding of a
#: multiplier (half of 2.2e-16) and sums of tens of them may move margins by as much.
STEEP = 2e-14

#: What a steep path stores may be this far from the precise solution, relative to its largest multiplier (the
#: intercept: to 1 + its size), besides the rounding that makes it steep; what is further off is wrong.
ROUNDED = 1e-6

#: Samples whose largest squared norm is up to this many times that of the centred ones can be traced as they are.
OFF_CENTRE = 1e4

#: Points of a grid are certified together and must use no more than this share of the tolerances: looked at one by
#: one, their sums are rounded in another order.
TOGETHER = 0.25

#: A slack is a difference of a score, an intercept and 1: this share of their sizes is rounding (of tracked paths, at
#: most a twentieth of it). Times the cost it matters where the optimal value is tiny against the costs: separable data,
#: costs near an axis.
SLACK_ROUNDING = 2e-15

#: Scores under one optimum that are this close, relative to the sum of their terms, count as one where they are ranked
#: (conformal prediction): they are known to 1e-13 of it, and no gap tells apart what is closer than its root.
TIED_SCORES = 1e-11

#: The same of residuals along the path of a program, relative to the largest: it is followed to 1e-12 of it.
TIED_RESIDUALS = 1e-10

#: Slopes and intercepts are enlarged, by no more than this share, where the rounding of slacks costs more than this
#: share of the optimal value: both are far below what certificates ask for.
OUTWARDS = 1e-10

#: Costs of the samples on either side of an intercept that differ by less than this share of them are equal, and the
#: sum of the slacks is flat there.
FLAT = 1e-12

#: Residuals and gaps are relative to the terms that they are computed from: so much of them, thousands of units in the
#: last place, refutes nothing.
RESIDUAL_ROUNDING = 1e-12

#: Of a solution that is off by no more than this the verdict says to which tolerance it is optimal, not what is wrong:
#: LIBSVM stops at violations of 1e-3.
LOOSE = 1e-3

#: A gap that rounding can make is no proof of anything once it is this large: nobody can tell half the value then.
UNDECIDED = 0.25

#: Tracker: refinement in double-double ends when a correction is below this share of the largest multiplier
#: (both weighted by sqrt(K_ii)); where the double factor cannot reach it, one in extended precision is made.
REFINED = 1e-18

#: Tracker: corrections that stay above this share even so mean that the margin system is numerically singular.
UNREFINED = 1e-9

#: Tracker: error bound of a gradient computed in double, relative to the terms that were summed. Samples whose events
#: cannot be told apart within it are looked at in extended precision. Of a program's path that is not proved, numbers
#: that are smaller beside the largest are taken for 0.
ROUNDING = 1e-14

#: Tracker: the same, relative to the sum of the caps. Values that are off their proved bounds by less are settled by
#: the proof; the tracker's margins are as exact as this.
VALUE_ROUNDING = 1e-12

#: The bounds that a certificate proves of an optimal value are rounded themselves, relative to it.
BOUND_ROUNDING = 1e-13

#: Tracker: an event this close (absolute, the line has length 1) to the end of the line is the end of the line.
END_OF_LINE = 1e-13

#: Tracker: where a line is to be left once w = 0, every margin is reached there at once; what is this close to it
#: (relative to the step) happens there.
END_TIE = 1e-9

#: Tracker: slopes below this share of the terms they are a difference of are rounding noise, not movement.
SLOPE_NOISE = 1e-10

#: Tracker: a sample is dependent on the margin set when its squared pivot is below this share of
#: ``(sqrt(K_ii) + sum_j |u_j| sqrt(K_jj))**2``, u the combination that reproduces it. Gram entries are rounded to
#: 1e-16, so a smaller pivot cannot be told from zero; with features the pivot is the squared norm of a residual
#: vector, itself known to 1e-15.
DEPENDENT_GRAM = 2e-15

#: Tracker: a recomputed solution outside its box or on the wrong side of its margin by more than this
#: (same units as EVENT_*) is a numerical failure, never a tie.
INFEASIBLE = 1e-6

#: Map of the cost plane: regions narrower and edges shorter than this share of the rectangle's diagonal are passed
#: over. Vertices are intersections of lines known to about 1e-13.
PLANE_SLIVER = 1e-10

#: Map: a margin (against 1) or multiplier (against its largest cap) that is nowhere on the rectangle further from its
#: bound is on it everywhere: what is exactly so is computed to about 1e-13.
PLANE_ZERO = 1e-9

#: Map: ... of margins a smaller share, where rounding of kernel values is no direction: solutions are refined to
#: REFINED, and tiny features under a kernel have directions of 1e-11 of the longest.
PLANE_REST = 1e-6

#: Map: a sample depends on a margin set when its squared pivot is below this share of its diagonal. Beyond it the
#: double factor, which refinement in double-double needs, has no digit left to spare.
PLANE_PIVOT = 1e-12

#: Map: the areas of the regions must add up to that of the rectangle within this share of it.
PLANE_AREA = 1e-9

#: Map: two regions touch along a segment that is this close to the borders of both, relative to the rectangle's
#: diagonal: ten times what a neighbour is looked for within, and gaps up to twice that are passed over.
PLANE_TOUCH = 1e-8

#: Clarabel's tolerances for `accuracy="fast"` and `accuracy="reference"`.
SOLVER_FAST = 1e-8
SOLVER_REFERENCE = 1e-12

#: Tried before `SOLVER_FAST` where Clarabel makes no progress at `SOLVER_REFERENCE` and its data cannot be rescaled.
SOLVER_MIDDLE = 1e-10

#: Where no side of a program is larger than this it is solved in another unit: accuracies of solvers are absolute.
SMALL_SIDES = 1e-3

#: A compiled solver is set up anew when the largest entry of q leaves [1/this, this] times its value at setup:
#: its equilibration is never redone on update and gives false "infeasible" over wide sweeps.
SETUP_DRIFT = 1e2

#: Path: where all multipliers of a piece are this close to a bound, relative to their caps, its intercept is one of an
#: interval. One that is a little off its bound pins the intercept down, and misses complementarity by what it is off.
#: One that comes to a bound where a segment ends is this close to it, relative to the largest (measured: up to 8e-13).
AT_BOUND = 1e-12

#: What the tracker may be wrong by in a margin, absolute, before it goes on in twice the precision. Where as much of
#: every slack shows in a value, that is asked for in twice the precision, too.
FAST_ERROR = 1e-10

#: A multiplier that is stored outside its box by more than this share of its cap is put at its bound: it counts as a
#: residual, of the 1e-8 (CERTIFY) that certificates allow.
SEEN_OUTSIDE = 1e-9

#: But none that would move its own margin by more than this: what the tracker may be wrong by when a sample enters.
ENTERED = 4e-9

#: Path: a stretch of no more units in the last place of t has so few digits that multipliers show the rounding of t.
FEW_DIGITS = 1e10

#: Somebody else's path of a program is right to this share of the value: most codes stop at tolerances of 1e-7 or so.
STRANGERS = 1e-6

#: Path against CVXPY reference: relative difference of objectives that counts as agreement.
AGREE_OBJECTIVE = 1e-9

#: Curves of a population: expected costs that differ by less are a tie.
ROC_TIE = 1e-12

#: ROC curves: two scores of a path are a tie where they differ by less than this share of the largest that either
#: sample has along the path. Scores of equal samples are summed in different orders; with b they are differences.
SCORE_TIE = 1e-13

#: Changes of labels, or of the order of scores, are one where their t differ by less than this share of the largest t:
#: a score is known to SCORE_TIE, a jump of b to END_OF_LINE. What ought to be one t (folds with equal class counts,
#: copies of samples) was up to 1e-14 apart, all else more than 1e-8 (measured, 235 curves of folds and leave-one-out).
ONE_CHANGE = 1e-13

#: Scores of a path are 0 where w . x and b cancel to this share of their sizes and the margin. What rounding leaves of
#: scores that are 0 in fractions was up to 1.2e-12 of them (small integers, costs up to 200 000), most often 1e-15.
SCORE_ZERO = 1e-11

#: Where w = 0 along a stretch, what is left of the scores is inherited rounding of the multipliers: up to 1e-13 of the
#: terms that were summed, and 4e-12 where a stage towards a vanishing cost begins, as it comes from multipliers a
#: thousand times larger (measured). Next to steep stretches it is more, but never more than CERTIFY of the largest
#: score of the path: what the certificates let pass.
SLOPE_ROUNDING = 1e-11

#: Shadow prices (sums of slacks) that differ by less than this share of them are one: the two ends of a single
#: intercept are rounded apart by 1e-15 times the scores.
PRICE_TIE = 1e-10

#: A rate this close to a whole number of samples over the class size is that number: a quotient of two whole
#: numbers is rounded at 1e-16, and classes have far fewer than 1e9 samples.
RATE_ROUNDING = 1e-10

#: Polish: a refined multiplier outside its box (relative to its cap), or a refined margin on the wrong side of 1
#: (relative to 1 + |f|), by less than this is rounding and exchanges nothing.
POLISH_EXCHANGE = 1e-11

#: Polish: a margin system whose reciprocal condition number is below this is solved as a least-norm correction, with
#: singular values below this share of the largest one dropped: the margin samples are then affinely dependent.
POLISH_RANK = 1e-14

#: Polish: a cap below this share of the largest one is smaller than what a solver leaves of a multiplier at 0.
TINY_CAP = 1e-11

#: Polish: the margins of the margin set are refined until they miss 1 (relative to 1 + |f|) by at most this.
POLISH_MARGIN = 1e-13

#: Classes nearer to each other than this share of the spread of a feature are solved by the samples that decide: a
#: solver's 1e-12 is the square of it.
TOUCHING = 1e-6

#: ... until all others keep their margins of 1 to this; certificates ask for 1e-8.
MARGIN_KEPT = 1e-10

#: Separation of two classes: a convex weight above this is one. Linear programs are solved to 1e-9 and better.
WEIGHTED = 1e-9

#: Rounding of scores, relative to the largest kernel value times the sum of the multipliers: of the 2nu-SVM, and where
#: a gap must be certain.
SCORE_ROUNDING = 1e-14

#: 2nu-SVM: margins are measured against the largest score, but against no less than this share of the terms that scores
#: are sums of: rounding leaves eight digits of so much (SCORE_ROUNDING / CERTIFY).
SCORE_DIGITS = 1e-6

#: 2nu-SVM: a slope that cancels down to this share of its terms, coordinate by coordinate, is 0 up to the rounding of
#: the samples. The square of a slope shows half as many digits, and proves nothing.
MEETING = 1e-13

#: 2nu-SVM: the rank of a kernel matrix is plain where what its factor (FACTOR_RANK) leaves is below this share.
PLAIN_RANK = 1e-13

#: 2nu-SVM: what its duality gap may be overestimated by, where multipliers are feasible but for rounding.
OVERESTIMATED = 1e-12

#: 2nu-SVM: ``nu n / (2 gamma)`` this close to a whole number, relative to the class size, is that number: it is
#: computed from parameters by three or four roundings.
WHOLE_RANK = 1e-12

#: 2nu-SVM: a parameter this far above its largest feasible value, relatively, is that value, rounded.
NU_ROUNDING = 1e-12

#: 2nu-SVM: two reduced hulls closer than this, relative to the largest norm of a sample, may meet; a linear program
#: then decides. An interior-point solver leaves the squared distance at about 1e-12.
HULLS_MEET = 1e-4

#: A covariance is called "not symmetric" beyond this share of its largest entry.
COVARIANCE_SYMMETRY = 1e-12

#: A covariance of d features scaled to variance 1 is called singular when its smallest eigenvalue is below d times
#: this: the rounding of its entries.
COVARIANCE_RANK = 2.3e-16

#: Two means that differ by less than this share of their largest entry are equal: each is rounded to 1e-16. A mean that
#: is closer to a hyperplane than this share of a standard deviation lies on it.
EQUAL_MEANS = 1e-15

#: Trust region: curvatures within this share of the largest one are equal to it, and a linear term below this share of
#: its bound (by Cauchy and Schwarz) vanishes: both are rounding of a singular value decomposition.
HARD_CASE = 1e-14

#: S-procedure: in the hard case the best multiplier makes its matrix singular. This share above it the Cholesky factor
#: is known to three digits in its smallest pivot, and the bound is worse by as little.
TAU_NUDGE = 1e-12

#: Trade-off curve: a component of the whitened difference of the means below this is replaced by it, in the directions
#: of the largest and of the smallest ratio of the variances only. It moves no rate by more, and it turns the hard cases
#: (component 0) and equal means into limits that the one formula reaches.
NUDGE = 1e-30

#: Trade-off curve: the logarithmic position along the curve runs from minus to plus this. At e^-150 even the nudged
#: component gives distances of 1e35 standard deviations, and its third power is still a double.
FARTHEST = 150.0

#: A mixing density must integrate to 1 up to this: quadrature promises a thousandth of it.
MIXING_MASS = 1e-9

#: The cheapest point of a trade-off curve: bound and value may differ by this share of the largest cost there is. The
#: bound is of first order: a tenth of it takes three times as long.
CHEAPEST = 1e-7

#: Proof of a line: the end of a segment and the beginning of the next are looked at together where the scores that are
#: stored for them differ by no more than this (against 1); what they differ by counts as a residual.
ONE_COLUMN = 1e-12

#: The weights of a mixture's components must add up to 1 up to this: each is rounded to 1e-16.
COMPONENT_WEIGHTS = 1e-12

#: A point of a population's ROC curve is on the hull if it is this close to it, relative to its distance from the
#: nearer corner: rates are rounded to about 1e-15.
HULL_ROUNDING = 1e-12

#: Variances along a slope that differ by less than this share of them are equal: each is a sum of a few products.
SAME_VARIANCE = 1e-12

#: Compiled programs: two entries that differ by no more than this share of them are one number that was rounded in two
#: ways (0.1 + 0.2 and 0.15 + 0.15), not one that a parameter moves.
SAME_NUMBER = 1e-15

#: Compiled programs: two rows whose coefficients are multiples of each other up to this share are parallel:
#: ``0.3 * r`` and ``-0.7 * r`` are rounded entry by entry.
PARALLEL = 1e-13

#: Compiled programs: a number that is off the straight line in a third point, by more than this share of its size, is
#: not affine in t; nor is a score that is off it by more than this share of the terms that it is a sum of.
AFFINE = 1e-12

#: A difference of values is relative to the value there, but to no less than the first share of the largest term that
#: the value is a sum of (of terms that cancel three digits more are lost), nor than the second of the objective's unit,
#: where there are no terms to speak of.
OF_TERMS, OF_UNIT = 1e-3, 1e-2

#: A column that is no more than this share of the largest is 0 where the unit of the objective is looked for: solvers
#: leave 1e-13 or so of a variable at its bound, and what is costly and that small says nothing of a point.
AWAY_FROM_ZERO = 1e-6

#: Compiled programs: the duality gap is a sum of products of slacks and multipliers, and each slack is rounded by up to
#: so much of its largest term. Where the optimal value is 0 along a whole piece, nothing else says what a gap is small
#: against.
PRODUCT_ROUNDING = 1e-14

#: Compiled programs: what is left of a row or of the gradient is measured against its own terms, and no less than this
#: share of what they would be if each were the largest column (multiplier) that has to do with it. An exact optimum
#: that is rounded leaves 1e-16 of its own terms; one that is computed leaves 1e-16 of the largest where its own are 0,
#: that is 1e-10 of this unit and a hundredth of CERTIFY. Of 169 proved lines of Maros and Meszaros' problems, measured
#: segment by segment, the worst leaves 4e-9.
OWN_TERMS = 1e-6

#: The same for a single slack or multiplier. Conditioning does not enlarge what is left of an equation; it does enlarge
#: the error of its unknowns: an SVM of 500 samples leaves slacks of 1e-14 of the largest column.
OWN_SIZE = 1e-3

#: A stretch shorter than what the data tell about t is a point, if it is no longer than this: on a
#: tenth of CERTIFY of a line no more than that of what moves can hide.
POINT = 1e-9

#: Compiled programs: a variable is substituted by its equation where its coefficient is at least this share of the
#: largest in the row: three digits are the most that may be lost.
SUBSTITUTED = 1e-3

#: A point is strictly inside a constraint where the slack that a search gave all of them at once is above this: a
#: solver's own error in it is a hundredth.
SLATER_STRICT = 1e-6

#: Affine constraints of such a point may be missed by this, relative to 1 and its largest entry: a solver's tolerance.
SLATER_AFFINE = 1e-7

#: A multiplier is at the border of its set, or 0, where it is within this of it, relative to 1 and its own size: what a
#: solver leaves of one that is. From duals to primals only.
ACTIVE_MULTIPLIER = 1e-5

#: Equations for a primal point, each scaled to 1, determine what has a singular value above this; open is an entry of
#: which a direction without any has more than the root of it.
RECOVERED_RANK = 1e-8

r"""The paper's method, to be read beside the paper.

M. Clifford, J. Erskine, A. Hepburn, R. Santos-Rodríguez, D. Garcia-Garcia, "Learning Confidence
Bounds for Classification with Imbalanced Data", ECAI 2024. Numbers in brackets are those of its
equations; ``docs/explanation/the_paper.md`` shows each as printed and as computed here, with the
reason where they differ. Class 1 of the paper is the negative class, class 2 the positive one.

A slack level removes some points of each class. On the kept points class :math:`i` has the count
:math:`N_i`, the mean :math:`\mu_i` and the radius :math:`R_i`. With :math:`a_i = \gamma
R_i/\sqrt{N_i}` and :math:`u_i = \sqrt{2 \ln 1/\delta_i}` its confidence radius (5) is
:math:`R_i + a_i (c + u_i)`, and the constraint (7), that both confidence radii fill the distance
:math:`D` of the means, is linear:

.. math:: a_1 u_1 + a_2 u_2 = C, \qquad C = D - \sum_i (R_i + c\, a_i).

A level is feasible iff :math:`C \ge 0`. The negative class gets a share :math:`\theta` of the free
space :math:`C`. The boundary (11) is :math:`t = \mu_1 + R_1 + c\, a_1 + \theta C`. The loss
(6, 12) is

.. math:: \sum_i \left( \frac{1 - \delta_i}{N_i + 1} + \delta_i \right) + \text{price of the slack}.

| file | what it is |
|---|---|
| `slack` | which points a level removes, and what is kept of a class |
| `levels` | the problem at every level: (5), (6), (7) and the constants of (12) |
| `division` | how one level divides the free space, which is :math:`\theta` |
| `exact` | Algorithm 1, solved exactly: the best of all levels |
| `curve` | the settings, and the solution as a boundary |

The other equations, and Algorithm 1 with the paper's local optimiser, are in ``lab/reproduction``.
"""

from boundshift.curves._paper.curve import SupportGeometry, SupportRadius

__all__ = ["SupportGeometry", "SupportRadius"]

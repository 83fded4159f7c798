//! LULESH (Karlin, Keasler and Neely 2013): explicit hydrodynamics on a mesh of hexahedra. A time step
//! goes over all elements and nodes in a few loops with much or little work for an element, then over
//! regions of elements with materials of their own, some of them again and again. Loops below are those
//! of the reference implementation in order, serial or with as many threads as wanted, with the bytes
//! that each takes of an element or node.

use super::Program;
use super::loops::{Array, Loop, Memory, Sweep};
use super::stages::{Stage, Thread};
use crate::parameter::{Result, refuse};
use crate::patterns::Op::{Read, Update, Write};
use pagetide_types::Bytes;

/// `-s EDGE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lulesh {
    /// Elements along an edge: 120 in the paper.
    pub edge: u64,
}

/// Regions (`-r 11`); with `-b 1` region number i has i + 1 of so many parts of all elements.
const REGIONS: u64 = 11;
const PARTS: u64 = 66;
/// How often each evaluates its equation of state: five once, five twice, one 20 times (`-c 1`).
const TIMES: [u32; 11] = [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 20];
/// A region's elements lie in runs of about so many: most of them in long ones.
const RUN: u64 = 128;
/// Of the temporaries of an evaluation, the energies.
const ENERGY: usize = 8;
/// Bytes of a scalar.
const REAL: u64 = 8;

/// All arrays of a mesh.
struct Mesh {
    edge: u64,
    elements: u64,
    nodes: u64,
    /// Of each element its eight nodes, 4 bytes each.
    corners: Array,
    /// Coordinates, velocities, accelerations and forces of nodes; their mass.
    at: [Array; 3],
    speed: [Array; 3],
    acceleration: [Array; 3],
    force: [Array; 3],
    mass: Array,
    /// By element: stresses, volumes' derivatives and coordinates of corners for the hourglass.
    stress: [Array; 3],
    corner_values: [Array; 6],
    /// Scalars by element.
    scalars: [Array; 20],
    /// Numbers of neighbours, 4 bytes each.
    neighbours: [Array; 8],
    /// Temporaries of a region.
    temporary: [Array; 14],
}

impl Mesh {
    fn new(edge: u64, memory: &mut Memory) -> Self {
        let (elements, nodes) = (edge.pow(3), (edge + 1).pow(3));
        let (element, node) = (REAL * elements, REAL * nodes);
        Self {
            edge,
            elements,
            nodes,
            corners: memory.array(32 * elements),
            at: memory.arrays(node),
            speed: memory.arrays(node),
            acceleration: memory.arrays(node),
            force: memory.arrays(node),
            mass: memory.array(node),
            stress: memory.arrays(element),
            corner_values: memory.arrays(8 * element),
            scalars: memory.arrays(element),
            neighbours: memory.arrays(4 * elements),
            // Of the largest region; they are allocated anew for each.
            temporary: memory.arrays(REAL * in_all(REGIONS - 1, elements)),
        }
    }

    fn over_elements(&self, instructions: f64, sweeps: Vec<Sweep>) -> Stage {
        Stage::Loop(Loop::new(self.elements, instructions, sweeps))
    }

    fn over_nodes(&self, instructions: f64, sweeps: Vec<Sweep>) -> Stage {
        Stage::Loop(Loop::new(self.nodes, instructions, sweeps))
    }
}

/// Arrays by element that a loop over elements goes through.
fn through(arrays: &[Array], bytes: u64, op: crate::patterns::Op) -> Vec<Sweep> {
    arrays.iter().map(|array| Sweep::each(*array, bytes, op)).collect()
}

/// Arrays by node, gathered over elements: the plane in front of the element is new, the one behind it is
/// in the caches.
fn gathered(arrays: &[Array], mesh: &Mesh, op: crate::patterns::Op) -> Vec<Sweep> {
    arrays.iter().map(|array| Sweep::all(*array, mesh.elements, op)).collect()
}

impl Lulesh {
    fn stages(self) -> (Vec<Stage>, u64) {
        let mut memory = Memory::default();
        let mesh = Mesh::new(self.edge, &mut memory);
        let mut stages = forces(&mesh);
        stages.extend(nodes(&mesh));
        stages.extend(kinematics(&mesh));
        stages.extend(viscosity(&mesh));
        stages.extend(materials(&mesh));
        stages.extend(time_step(&mesh));
        (stages, memory.bytes())
    }
}

/// Forces on nodes: stresses, then hourglass (sections "stress" and "hourglass" of the specification).
fn forces(mesh: &Mesh) -> Vec<Stage> {
    let one = |array: Array, op| Sweep::each(array, REAL, op);
    let [pressure, viscosity, ..] = mesh.scalars;
    let mut begin = through(&mesh.stress, REAL, Write);
    begin.extend([one(pressure, Read), one(viscosity, Read)]);
    let mut stress = vec![Sweep::each(mesh.corners, 32, Read), one(mesh.scalars[2], Write)];
    stress.extend(through(&mesh.stress, REAL, Read));
    stress.extend(gathered(&mesh.at, mesh, Read));
    stress.extend(gathered(&mesh.force, mesh, Update));
    let mut control = vec![Sweep::each(mesh.corners, 32, Read), one(mesh.scalars[3], Read)];
    control.extend([one(mesh.scalars[2], Write), one(mesh.scalars[4], Read)]);
    control.extend(gathered(&mesh.at, mesh, Read));
    control.extend(through(&mesh.corner_values, 8 * REAL, Write));
    let mut hourglass = vec![Sweep::each(mesh.corners, 32, Read)];
    hourglass.extend(mesh.scalars[2..5].iter().map(|array| one(*array, Read)));
    hourglass.extend(through(&mesh.corner_values, 8 * REAL, Read));
    hourglass.extend(gathered(&mesh.speed, mesh, Read));
    hourglass.extend(gathered(&mesh.force, mesh, Update));
    vec![
        mesh.over_nodes(8.0, through(&mesh.force, REAL, Write)),
        mesh.over_elements(20.0, begin),
        mesh.over_elements(868.0, stress),
        mesh.over_elements(694.0, control),
        mesh.over_elements(1447.0, hourglass),
    ]
}

/// Accelerations, velocities and positions of nodes.
fn nodes(mesh: &Mesh) -> Vec<Stage> {
    let mut accelerate = through(&mesh.force, REAL, Read);
    accelerate.push(Sweep::each(mesh.mass, REAL, Read));
    accelerate.extend(through(&mesh.acceleration, REAL, Write));
    let mut speed = through(&mesh.acceleration, REAL, Read);
    speed.extend(through(&mesh.speed, REAL, Update));
    let mut at = through(&mesh.speed, REAL, Read);
    at.extend(through(&mesh.at, REAL, Update));
    vec![mesh.over_nodes(26.0, accelerate), mesh.over_nodes(34.0, speed), mesh.over_nodes(20.0, at)]
}

/// Volumes and strains of elements, from where their nodes are.
fn kinematics(mesh: &Mesh) -> Vec<Stage> {
    let one = |array: Array, op| Sweep::each(array, REAL, op);
    let mut strains = vec![Sweep::each(mesh.corners, 32, Read)];
    strains.extend(gathered(&mesh.at, mesh, Read));
    strains.extend(gathered(&mesh.speed, mesh, Read));
    strains.extend(mesh.scalars[5..7].iter().map(|array| one(*array, Read)));
    strains.extend(mesh.scalars[7..9].iter().map(|array| one(*array, Write)));
    strains.push(one(mesh.scalars[9], Write));
    strains.extend(through(&mesh.stress, REAL, Write));
    let mut divergence = through(&mesh.stress, REAL, Update);
    divergence.extend([one(mesh.scalars[10], Write), one(mesh.scalars[7], Read)]);
    vec![mesh.over_elements(926.0, strains), mesh.over_elements(40.0, divergence)]
}

/// Gradients of velocity, then artificial viscosity by region.
fn viscosity(mesh: &Mesh) -> Vec<Stage> {
    let one = |array: Array, op| Sweep::each(array, REAL, op);
    let gradients = &mesh.scalars[11..17];
    let mut gradient = vec![Sweep::each(mesh.corners, 32, Read)];
    gradient.extend(gathered(&mesh.at, mesh, Read));
    gradient.extend(gathered(&mesh.speed, mesh, Read));
    gradient.extend([one(mesh.scalars[5], Read), one(mesh.scalars[7], Read)]);
    gradient.extend(gradients.iter().map(|array| one(*array, Write)));
    let mut stages = vec![mesh.over_elements(434.0, gradient)];
    let row = REAL * mesh.edge;
    for region in 0..REGIONS {
        let of = |array, bytes, op| in_region(array, region, bytes, op);
        let mut limit: Vec<Sweep> =
            mesh.neighbours.iter().map(|array| of(*array, 4, Read)).collect();
        limit.extend(gradients.iter().map(|array| of(*array, REAL, Read)));
        // Of two directions the neighbours on either side belong to other runs.
        for (array, far) in [(gradients[1], row), (gradients[2], row * mesh.edge)] {
            limit.push(of(array, REAL, Read).from(far));
            limit.push(of(array, REAL, Read).from(2 * far));
        }
        limit.extend([10, 6, 7, 4].map(|scalar| of(mesh.scalars[scalar], REAL, Read)));
        limit.extend([17, 18].map(|scalar| of(mesh.scalars[scalar], REAL, Write)));
        stages.push(Stage::Loop(Loop::new(items(mesh, region), 289.0, limit)));
    }
    stages
}

/// What a loop over a region goes over; its last runs are left out, so that no sweep leaves its array.
fn items(mesh: &Mesh, region: u64) -> u64 {
    in_all(region, mesh.elements).saturating_sub(2 * REGIONS * RUN).max(1)
}

/// Elements of a region.
const fn in_all(region: u64, elements: u64) -> u64 {
    elements * (region + 1) / PARTS
}

/// What a region has of an array by element: runs, as far apart as its share of all elements says.
fn in_region(array: Array, region: u64, bytes: u64, op: crate::patterns::Op) -> Sweep {
    let run = RUN * bytes;
    Sweep::each(array, bytes, op).from(region * run).runs(run, PARTS * run / (region + 1))
}

/// Energies and pressures by region. An evaluation gathers the region's elements into temporaries and
/// goes over these in ten loops.
fn materials(mesh: &Mesh) -> Vec<Stage> {
    let temporary = |which: &[usize]| -> Vec<Sweep> {
        let of = |at: &usize| Sweep::each(mesh.temporary[*at], REAL, Read);
        which.iter().map(of).collect()
    };
    let written = |which: &[usize]| -> Vec<Sweep> {
        // Energies are updated in place, all else is assigned.
        let op = |at| if at == ENERGY { Update } else { Write };
        let of = |at: &usize| Sweep::each(mesh.temporary[*at], REAL, op(*at));
        which.iter().map(of).collect()
    };
    let mut stages = Vec::new();
    for (region, times) in (0..REGIONS).zip(TIMES) {
        let gather = |scalars: &[usize]| -> Vec<Sweep> {
            let of = |at: &usize| in_region(mesh.scalars[*at], region, REAL, Read);
            scalars.iter().map(of).collect()
        };
        let stage = |instructions: f64, sweeps: [Vec<Sweep>; 3]| {
            Stage::Loop(Loop::new(items(mesh, region), instructions, sweeps.concat()))
        };
        let pressure = |stages: &mut Vec<Stage>, energy: usize, density: usize| {
            stages.push(stage(9.0, [temporary(&[density]), written(&[10, 11]), vec![]]));
            stages.push(stage(21.0, [temporary(&[10, energy]), written(&[7]), gather(&[7])]));
        };
        for _ in 0..times {
            let all = gather(&[19, 8, 0, 1, 17, 18]);
            stages.push(stage(20.0, [written(&[0, 1, 2, 3, 12, 13]), all, vec![]]));
            let densities = written(&[4, 5, 6]);
            stages.push(stage(20.0, [temporary(&[1]), densities, gather(&[7])]));
            stages.push(stage(14.0, [temporary(&[0, 1, 2, 3, 6]), written(&[8]), vec![]]));
            pressure(&mut stages, 8, 5);
            let second = temporary(&[1, 2, 3, 5, 7, 10, 11, 12, 13]);
            stages.push(stage(33.0, [second, written(&[8, 9]), vec![]]));
            stages.push(stage(7.0, [temporary(&[6]), written(&[8]), vec![]]));
            pressure(&mut stages, 8, 4);
            let third = temporary(&[1, 2, 3, 7, 9, 10, 11, 12, 13]);
            stages.push(stage(33.0, [third, written(&[8]), gather(&[7])]));
            pressure(&mut stages, 8, 4);
            let fourth = temporary(&[1, 7, 8, 10, 11, 12, 13]);
            stages.push(stage(24.0, [fourth, written(&[9]), gather(&[7])]));
        }
        let back = [0, 1, 19].map(|at| in_region(mesh.scalars[at], region, REAL, Write));
        stages.push(stage(20.0, [temporary(&[7, 8, 9]), back.to_vec(), gather(&[3])]));
    }
    stages
}

/// Volumes are kept, and the next time step is the shortest that an element allows.
fn time_step(mesh: &Mesh) -> Vec<Stage> {
    let one = |array: Array, op| Sweep::each(array, REAL, op);
    let mut stages = vec![
        mesh.over_elements(14.0, vec![one(mesh.scalars[7], Read), one(mesh.scalars[6], Write)]),
    ];
    for region in 0..REGIONS {
        let courant = [3, 9, 10].map(|at| in_region(mesh.scalars[at], region, REAL, Read));
        stages.push(Stage::Loop(Loop::new(items(mesh, region), 150.0, courant.to_vec())));
    }
    stages
}

impl Program for Lulesh {
    fn memory(&self) -> Bytes {
        Bytes(self.stages().1)
    }

    fn threads(&self, count: u32, seed: u64) -> Result<Vec<Thread>> {
        if !(12..=1000).contains(&self.edge) {
            return refuse("edge", self.edge, "give from 12 to 1000 elements");
        }
        Ok(Thread::all(self.stages().0, count, seed))
    }
}

//! Cost, recommendation and advice on hand-made curves whose answers are known in closed form.

mod advice;
mod build;
mod confirmed;
mod cost;
mod foresight;
mod heatmap;
mod interval;
mod json;
mod pictures;
mod recommend;
mod recorded;
mod split;
mod window;

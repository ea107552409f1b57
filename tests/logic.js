// What the scripts compute with, for tests that run them without a browser.
import { OPS, run } from "../src/chainview/figures/program.js";
import { judgeTiles, matricesOf } from "../src/chainlab/drills/page/matrices.js";
import * as ramp from "../src/chainlab/drills/page/ramp.js";
import * as start from "../src/chainlab/drills/page/start.js";
import * as numbers from "../src/chainlab/drills/page/small_numbers.js";
import * as problem from "../src/chainlab/drills/page/problem.js";
import * as progress from "../src/chainlab/drills/page/progress.js";
import { numbersIn } from "../src/chainlab/drills/page/reading.js";

Object.assign(globalThis, { OPS, run, judgeTiles, matricesOf, numbersIn });
Object.assign(globalThis, numbers, problem, progress, ramp, start);

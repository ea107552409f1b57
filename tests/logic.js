// What the scripts compute with, for tests that run them without a browser.
import { OPS, run } from "../src/chainview/figures/program.js";
import { judgeTiles, matricesOf } from "../src/chainlab/drills/matrices.js";
import { apart } from "../src/chainlab/drills/apart.js";
import * as ramp from "../src/chainlab/drills/ramp.js";
import * as start from "../src/chainlab/drills/start.js";
import { stepAt } from "../src/chainlab/drills/steps.js";
import * as numbers from "../src/chainlab/drills/numbers.js";
import * as problem from "../src/chainlab/drills/problem.js";
import * as progress from "../src/chainlab/drills/progress.js";
import { numbersIn } from "../src/chainlab/drills/reading.js";

Object.assign(globalThis, { OPS, run, judgeTiles, matricesOf, numbersIn });
Object.assign(globalThis, numbers, problem, progress, ramp, start, { apart, stepAt });

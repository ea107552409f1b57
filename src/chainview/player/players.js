// The players of a page.
import { startAll } from "../ui.js";
import { Player } from "./player.js";

startAll(".chaingrad-player:not([data-kind])", (root) => new Player(root).begin());

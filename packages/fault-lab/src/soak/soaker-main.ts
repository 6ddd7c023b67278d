/** A process of a soak: does the task in its argument. */

import type { SoakTask } from './soak-task.ts'
import { Soaker } from './soaker.ts'

await new Soaker(JSON.parse(process.argv[2] ?? '') as SoakTask).run()

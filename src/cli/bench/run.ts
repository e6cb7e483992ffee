// Runs one scenario. This process is the load generator. It gets the run from its parent process, and sends
// the result to it.

import { check } from './check.ts'
import { contenderOf, type ServerSpec } from './contender.ts'
import { temporaryDirectory } from './processes.ts'
import type { Scale } from './scenario.ts'
import { scenarios } from './scenarios/scenarios.ts'

/** A scenario with a server and a load. */
export interface Run {
  readonly scenario: string
  readonly server: ServerSpec
  readonly scale: Scale
}

process.once('disconnect', () => process.exit())
process.once('message', (run: Run) => void perform(run))

async function perform({ scenario: wanted, server, scale }: Run): Promise<void> {
  const scenario = [check, ...scenarios].find(({ key }) => key === wanted)
  try {
    if (scenario === undefined) throw new Error(`there is no scenario ${wanted}`)
    process.send?.(await scenario.run(contenderOf(server), temporaryDirectory(), scale), () => process.exit())
  } catch (error) {
    process.send?.(error instanceof Error ? error.message : String(error), () => process.exit())
  }
}

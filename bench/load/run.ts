// Runs one scenario. This process is the load generator. Its arguments are the scenario, the contender and
// the scale. It sends the result to its parent process.

import type { Scale } from '../../src/cli/bench/scenario.ts'
import { scenarios } from '../../src/cli/bench/scenarios/scenarios.ts'
import { errorMessage } from '../../src/core/base/errors.ts'
import { temporaryDirectory } from '../support/server.ts'
import { contenders } from './contenders.ts'

const [scenarioName, contenderName, scale] = process.argv.slice(2)
const scenario = scenarios.find(({ name }) => name === scenarioName)
const contender = contenders().find(({ name }) => name === contenderName)
if (scenario === undefined || contender === undefined) throw new Error('no such run')
try {
  process.send?.(await scenario.run(contender, temporaryDirectory(), JSON.parse(scale ?? '') as Scale))
} catch (error) {
  process.send?.(errorMessage(error))
}
process.exit()

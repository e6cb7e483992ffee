import { existsSync } from 'node:fs'
import { builtFile } from '../../../src/core/base/package-file.ts'

/**
 * Checks that the build for the tests exists. Without it, a server lacks some pages, and its threads do not
 * start. Outside of the test runner, does nothing, because other programs use another build or none.
 * @throws Error if a test starts a server although `test/support/tiers.ts` counts it as a unit test
 */
export function requireTestBuild(): void {
  if (process.env.VITEST !== undefined && !existsSync(builtFile('SOURCES')))
    throw new Error('there is no build for this test: test/support/tiers.ts counts it as a unit test')
}

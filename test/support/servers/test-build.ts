import { existsSync } from 'node:fs'
import { builtFile } from '../../../src/config/package-file.ts'

/**
 * Checks that the build for tests exists. Without it, pages of a server are missing and its threads do not start. Does
 * nothing outside of the test runner: other programs use another build, or none.
 * @throws Error with the command that makes the build
 */
export function requireTestBuild(): void {
  if (process.env.VITEST !== undefined && !existsSync(builtFile('SOURCES')))
    throw new Error('there is no build for the tests; run `npm run build:test`')
}

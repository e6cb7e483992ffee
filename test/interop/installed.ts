import { existsSync } from 'node:fs'
import { join } from 'node:path'

const installed = existsSync(join(import.meta.dirname, 'node_modules'))

/** With `WEFT_TEST_REQUIRED=1` no test may be skipped: missing packages are then a failure. */
export const judgesMissing = !installed && process.env.WEFT_TEST_REQUIRED !== '1'

export function skipNotice(): void {
  if (judgesMissing) console.log('skipped: the judges are not installed (cd test/interop && npm ci)')
}

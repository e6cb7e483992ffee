import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'vitest'

const installed = existsSync(join(import.meta.dirname, 'node_modules'))

// With `WEFT_TEST_REQUIRED=1` no test may be skipped: the imports then fail.
if (!installed && process.env.WEFT_TEST_REQUIRED !== '1')
  it.skip('the deployment files: their parsers are not installed (cd test/deploy && npm ci)', () => {})
else {
  await import('./chart-rules.ts')
  await import('./compose-rules.ts')
}

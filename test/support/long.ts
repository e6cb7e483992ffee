import { it } from 'vitest'

/** Tests that take long: only where everything is asked for. */
export const itLong = it.skipIf(process.env.WEFT_TEST_ALL !== '1')

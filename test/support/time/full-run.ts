import { it } from 'vitest'

/** Where this is set, everything is tested, however long it takes. */
export const isEverythingAsked = process.env.WEFT_TEST_ALL === '1'

/** Tests that take long: only where everything is asked for. */
export const itLong = it.skipIf(!isEverythingAsked)

/** How often something is tried, or what is. @param all where everything is asked for */
export const times = <T>(usually: T, all: T): T => (isEverythingAsked ? all : usually)

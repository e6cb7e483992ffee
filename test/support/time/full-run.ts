import { it } from 'vitest'

/** True if the run includes all tests. Slow tests are otherwise skipped. */
export const isEverythingAsked = process.env.WEFT_TEST_LONG === '1'

/** Defines a slow test. It runs only with WEFT_TEST_LONG=1. */
export const itLong = it.skipIf(!isEverythingAsked)

/** Returns `all` with WEFT_TEST_LONG=1; otherwise `usually`. Used for numbers of repetitions. */
export const times = <T>(usually: T, all: T): T => (isEverythingAsked ? all : usually)

/**
 * Setup file that runs before each test file. Properties of fast-check start from the seed of the test run, and have fewer cases in its short form.
 */
import * as fc from 'fast-check'
import { times } from '../time/full-run.ts'
import { seed } from './seed.ts'

fc.configureGlobal({ seed, numRuns: times(40, 100) })

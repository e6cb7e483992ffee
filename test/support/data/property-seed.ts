/**
 * Setup file that runs before each test file. Properties of fast-check start from the seed of the test run.
 */
import * as fc from 'fast-check'
import { seed } from './seed.ts'

fc.configureGlobal({ seed })

/** Runs before each test file: properties of fast-check start from the seed of the run. */
import * as fc from 'fast-check'
import { seed } from './seed.ts'

fc.configureGlobal({ seed })

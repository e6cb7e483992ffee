/**
 * Setup file that runs before each test file. Properties of fast-check start from the seed of the test run, and have
 * fewer cases in its short form. Servers inside of tests use the thread of a build for tests.
 */
import * as fc from 'fast-check'
import { buildFolders } from '../../src/build/build-folders.ts'
import { seed } from './data/seed.ts'
import { times } from './time/full-run.ts'

fc.configureGlobal({ seed, numRuns: times(40, 100) })
Object.assign(globalThis, { BUILD_FOLDER: buildFolders.test })

import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Of minutes, most of them spent waiting for another program: last, it would be waited for alone. */
const longest = /test\/judges\/openapi\.test\.ts$/

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLongest = ({ moduleId }: TestSpecification): boolean => longest.test(moduleId)
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))]
  }
}

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    // Files share two cores with the servers they start; more workers only make timing worse.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // A worker loads each module once: no module has a state of its own.
    isolate: false,
    // Property tests run longer where everything is asked for.
    testTimeout: process.env.WEFT_TEST_ALL === '1' ? 300_000 : 30_000,
    hookTimeout: 30_000,
  },
})

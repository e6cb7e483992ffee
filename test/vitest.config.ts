import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    // Files share two cores with the servers they start; more workers only make timing worse.
    maxWorkers: 2,
    // A worker loads each module once: no module has a state of its own.
    isolate: false,
    // Property tests run longer where everything is asked for.
    testTimeout: process.env.WEFT_TEST_ALL === '1' ? 300_000 : 30_000,
    hookTimeout: 30_000,
  },
})

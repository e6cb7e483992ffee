import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { skipWithoutNeeds } from './support/needs.ts'
import { isOfDom } from './support/tiers.ts'

/** If one of these files ran last, the run would wait for it alone. Vitest starts small files last. */
const longest = [
  '/test/fuzz/cost.test.ts',
  '/test/package/tarball/tarball.test.ts',
  '/test/interop/openapi.test.ts',
  '/test/rest/project/bench-faults.test.ts',
  '/test/fuzz/differential.test.ts',
]

/**
 * Vitest ends a worker when the next file has another environment, so these files stay together. A worker takes
 * seconds to load all modules.
 */
class Grouped extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const groups = new Map(files.map((file) => [file, groupOf(file)]))
    const placeOf = (file: TestSpecification): number => groups.get(file) ?? 0
    return (await super.sort(files)).sort((one, two) => placeOf(one) - placeOf(two))
  }
}

function groupOf({ moduleId }: TestSpecification): number {
  if (longest.some((file) => moduleId.endsWith(file))) return 0
  return isOfDom(readFileSync(moduleId, 'utf8')) ? 1 : 2
}

export default defineConfig({
  root: resolve(import.meta.dirname, '..'),
  plugins: [skipWithoutNeeds],
  resolve: {
    // The name under which Vitest looks for the environment `dom`.
    alias: {
      'vitest-environment-dom': fileURLToPath(new URL('interop/dom-environment.ts', import.meta.url)),
    },
  },
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    globalSetup: ['test/support/prepare-project.ts'],
    setupFiles: ['test/support/setup.ts'],
    // Node loads the sources as it does in `npm start`. Vitest would need twice the time for them.
    server: { deps: { external: [/\/src\/.*\.tsx?$/] } },
    // The default size costs `npm test` about 20 s of CPU time for the collection of young objects.
    execArgv: ['--import', 'tsx', '--max-semi-space-size=64'],
    // A worker loads each module once, because no module has a state of its own.
    isolate: false,
    // Limits for tests that hang. Other work of the machine may slow down a test that passes.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Concurrent tests mostly wait.
    maxConcurrency: 10,
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: Grouped },
    // For two cores: more than half of the time of tests is spent waiting.
    maxWorkers: 4,
  },
})

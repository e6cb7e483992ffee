import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { skipWithoutNeeds } from './support/needs.ts'
import { filesByTier, type Tier, tiers } from './support/tiers.ts'

const root = resolve(import.meta.dirname, '..')

/** If one of these files ran last, the run would wait for it alone. */
const longest = [
  'fuzz/cost',
  'package/tarball/tarball',
  'e2e/limits/work-shares',
  'interop/openapi',
  'e2e/transport/proxies',
  'e2e/transport/failover',
  'rest/http/idempotency',
  'rest/http/openapi',
  'e2e/callbacks/isolation',
  'e2e/mcp/protocol',
  'e2e/streams/connections',
  'e2e/transport/weft-socket',
  'e2e/feed/stream-limits',
].map((name) => `/test/${name}.test.ts`)

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLongest = ({ moduleId }: TestSpecification): boolean =>
      longest.some((path) => moduleId.endsWith(path))
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))]
  }
}

const files = filesByTier()

const project = (tier: Tier): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    name: tier,
    include: [...(files.get(tier) ?? [])],
    globalSetup: ['test/support/prepare-tier.ts'],
  },
})

export default defineConfig({
  root,
  plugins: [skipWithoutNeeds],
  resolve: {
    // The name under which Vitest looks for the environment `dom`.
    alias: {
      'vitest-environment-dom': fileURLToPath(new URL('interop/dom-environment.ts', import.meta.url)),
    },
  },
  test: {
    projects: tiers.map(project),
    setupFiles: ['test/support/setup.ts'],
    // Node loads the sources as it does in `npm start`. Vitest would need twice the time for them.
    server: { deps: { external: [/\/src\/.*\.tsx?$/] } },
    // The default size costs `npm test` about 20 s of CPU time for the collection of young objects.
    execArgv: ['--import', 'tsx', '--max-semi-space-size=64'],
    sequence: { sequencer: LongestFirst },
    // A worker loads each module once, because no module has a state of its own.
    isolate: false,
    // For two cores: more than half of the time of tests is spent waiting.
    maxWorkers: 4,
    // Limits for tests that hang. Other work of the machine may slow down a test that passes.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Concurrent tests mostly wait.
    maxConcurrency: 10,
    expect: { poll: { timeout: 60_000 } },
  },
})

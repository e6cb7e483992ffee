import { relative } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildPrograms } from '../../src/build/build.ts'
import { buildFolders } from '../../src/build/build-folders.ts'
import { updateGeneratedFiles } from '../../src/build/generated-files.ts'
import { root } from './data/project-files.ts'
import { tierOf } from './tiers.ts'

/**
 * Writes what the tests of a run import, and builds what they start, serve or load: only the tier unit needs no build.
 * Does nothing if this is current. A watched run does the same before it repeats tests.
 */
export default async function setup(project: TestProject): Promise<void> {
  const prepare = (files: readonly string[]): Promise<void> =>
    files.every((file) => tierOf(relative(root, file)) === 'unit')
      ? updateGeneratedFiles()
      : buildPrograms(buildFolders.test)
  await prepare(project.vitest.state.getPaths())
  project.onTestsRerun((repeated) => prepare(repeated.map(({ moduleId }) => moduleId)))
}

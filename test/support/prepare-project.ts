import type { TestProject } from 'vitest/node'
import { buildPrograms } from '../../src/build/build.ts'
import { buildFolders } from '../../src/build/build-folders.ts'
import { updateGeneratedFiles } from '../../src/build/generated-files.ts'

/**
 * Writes what the tests of a project import, and builds what they start, serve or load. Does nothing if this is
 * current. A watched run does the same before it repeats tests of the project.
 */
export default async function setup(project: TestProject): Promise<void> {
  const prepare = (): Promise<void> =>
    project.name === 'unit' ? updateGeneratedFiles() : buildPrograms(buildFolders.test)
  await prepare()
  project.onTestsRerun(async (repeated) => {
    if (repeated.some((specification) => specification.project === project)) await prepare()
  })
}

import type { TestProject } from 'vitest/node'
import { buildPrograms } from '../../src/build/build.ts'
import { buildFolders } from '../../src/build/build-folders.ts'

/**
 * Builds what tests start, serve or load, unless the folder already has a build of the same sources. A watched
 * run does the same before it repeats tests of the project.
 */
export default async function setup(project: TestProject): Promise<void> {
  await buildPrograms(buildFolders.test)
  project.onTestsRerun(async (repeated) => {
    if (repeated.some((specification) => specification.project === project))
      await buildPrograms(buildFolders.test)
  })
}

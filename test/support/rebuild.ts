import type { TestProject } from 'vitest/node'
import { buildUnchecked } from '../../src/build/build.ts'
import { buildFolders } from '../../src/build/build-folders.ts'
import { updateGeneratedFiles } from '../../src/build/generated-files.ts'

/**
 * Writes the generated files if their sources have changed, because tests import them. Builds the programs again before `npm run test:watch` repeats tests. The first build is a step of npm before
 * the run. A mistake in the sources is printed, and the tests then use the build before it.
 */
export default async function setup(project: TestProject): Promise<void> {
  await updateGeneratedFiles()
  project.onTestsRerun(() => buildUnchecked(buildFolders.test).catch(() => undefined))
}

import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { filesUnder, root } from './support/data/project-files.ts'

/** Maximum number of hits of `test/support/prose-check.mjs` for each 1,000 sentences, in all prose or in one kind. */
const habitsMax: readonly { paths: readonly string[]; kind?: 'text'; max: number }[] = [
  { paths: ['README.md'], max: 15 },
  { paths: ['src/docs'], max: 15 },
  { paths: ['src'], kind: 'text', max: 15 },
  { paths: ['src/console'], kind: 'text', max: 15 },
  { paths: ['AGENTS.md', '.github', 'examples'], kind: 'text', max: 15 },
  { paths: ['test/spec'], max: 20 },
  { paths: ['src'], max: 25 },
  { paths: ['test'], max: 25 },
  { paths: ['.ci/run', '.github', 'Dockerfile'], max: 25 },
  { paths: ['bench'], max: 40 },
  { paths: ['examples'], max: 40 },
]

it('[TIDY-22] keeps the number of habits that make prose hard to read below a limit', () => {
  const script = join(root, 'test/support/prose-check.mjs')
  const isFile = (path: string): boolean => statSync(join(root, path)).isFile()
  // The script skips files without prose.
  const filesOf = (path: string): string[] => (isFile(path) ? [path] : filesUnder(path, /./).filter(isFile))
  const found = habitsMax.map(({ paths, kind, max }) => {
    const only = kind === undefined ? [] : ['--kind', kind]
    const args = [script, '--summary', '--max', String(max), ...only, ...paths.flatMap(filesOf)]
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
    return status === 0 ? null : `${paths.join(', ')}: ${stdout}`
  })
  expect(found.filter((each) => each !== null)).toEqual([])
})

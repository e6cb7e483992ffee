import { execFileSync, execSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { errorMessage } from '../core/base/errors.ts'
import { packageFile } from '../core/base/package-file.ts'

/**
 * Implements `npm run release -- 0.2.0`. It checks the repository, sets the version, also that of the Helm chart, adds the version and the
 * date to the changelog, commits, and tags with the changes of the version. With `--dry-run`, it only checks. If something is missing, it
 * prints one line and exits with 1. It does not push or publish.
 */
const root = fileURLToPath(packageFile('.'))

const git = (...args: readonly string[]): string => gitWith('', ...args)

/** Runs git with an input. Returns its output. */
const gitWith = (input: string, ...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', input }).trim()

/** The Helm chart, whose default image has the version. */
const chart = packageFile('examples/deploy/helm/weft/Chart.yaml')

/** Names of files that a package may contain in addition to the build. */
const packedFiles = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md']

function checkPackedFiles(): void {
  const printed = execSync('npm pack --dry-run --json --ignore-scripts', { cwd: root, encoding: 'utf8' })
  const [{ files }] = JSON.parse(printed) as [{ files: readonly { path: string }[] }]
  const paths = files.map(({ path }) => path)
  const extra = paths.filter((path) => !path.startsWith('dist/') && !packedFiles.includes(path))
  if (extra.length > 0) throw new Error(`the package would contain ${extra.join(', ')}; change "files"`)
  const missing = ['dist/main.js', 'dist/console/index.html', 'dist/LICENSES', ...packedFiles].filter(
    (path) => !paths.includes(path),
  )
  if (missing.length > 0) throw new Error(`the package would not contain ${missing.join(', ')}; build first`)
}

/** Returns the changelog with a version and a date for the unreleased changes. */
function datedChangelog(version: string): string {
  const text = readFileSync(packageFile('CHANGELOG.md'), 'utf8')
  const [before, changes = ''] = text.split(/^## Unreleased\n/m)
  if (!/^- /m.test(changes.split(/^## /m)[0] ?? ''))
    throw new Error('the changelog has no changes under "## Unreleased"; describe them')
  const date = new Date().toISOString().slice(0, 10)
  return `${before}## Unreleased\n\n## [${version}] - ${date}\n${changes}`
}

/** Returns the changes of a version, for its tag and the notes of its release. */
function changesOf(changelog: string, version: string): string {
  const [, after = ''] = changelog.split(`\n## [${version}]`)
  const [dated = ''] = after.split('\n## ')
  return dated.slice(dated.indexOf('\n')).trim()
}

function checkVersion(version: string | undefined): string {
  const { version: current } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as {
    version: string
  }
  if (version === undefined || !/^\d+\.\d+\.\d+$/.test(version))
    throw new Error(
      `give the new version, for example: npm run release -- 0.2.0 (current version: ${current})`,
    )
  const [now, next] = [current, version].map((each) => each.split('.').map(Number))
  const at = next?.findIndex((number, index) => number !== now?.[index]) ?? -1
  if (at === -1 || Number(next?.[at]) < Number(now?.[at]))
    throw new Error(`version ${version} is not newer than ${current}`)
  return version
}

try {
  const [given] = process.argv.slice(2).filter((each) => each !== '--dry-run')
  const version = checkVersion(given)
  if (git('status', '--porcelain') !== '') throw new Error('the working tree has changes; commit them first')
  if (git('tag', '--list', `v${version}`) !== '') throw new Error(`the tag v${version} exists`)
  const changelog = datedChangelog(version)
  checkPackedFiles()
  if (process.argv.includes('--dry-run')) console.log(`v${version} can be released`)
  else {
    writeFileSync(packageFile('CHANGELOG.md'), changelog)
    writeFileSync(chart, readFileSync(chart, 'utf8').replace(/^appVersion: .*$/m, `appVersion: ${version}`))
    execSync(`npm version ${version} --no-git-tag-version`, { cwd: root, stdio: 'ignore' })
    git('commit', '--quiet', '--all', '--message', `release: ${version}`)
    const notes = `Weft ${version}\n\n${changesOf(changelog, version)}\n`
    // Its headings begin with the sign of comments.
    gitWith(notes, 'tag', '--annotate', `v${version}`, '--cleanup=verbatim', '--file=-')
    console.log(`tagged v${version}; publish it with: git push --follow-tags`)
  }
} catch (error) {
  console.error(errorMessage(error))
  process.exitCode = 1
}

/**
 * Uses the package and each template of `weft init` as a new user, from the packed tarball and npm alone: creates
 * an app in an empty folder, installs, builds and starts it, and opens it with three users in Chromium. Prints one
 * line for each step, and the size of the scripts of each page. Exits with 1 if a step fails.
 *
 *   npm run test:templates                                all
 *   npm run test:templates -- --template tiptap-express   one
 *   npm run test:templates -- --keep                      keep the folder with the apps
 *
 * It needs npm and Chromium.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type TemplateName, templateNames } from '../../src/cli/project-template.ts'
import { errorMessage } from '../../src/core/base/errors.ts'
import { Semaphore } from '../../src/core/base/semaphore.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { freePort } from '../support/servers/process.ts'
import { removeLater, Shell } from '../support/servers/shell.ts'
import { Stopwatch } from '../support/time/stopwatch.ts'
import { PackageFolder } from './package-folder.ts'
import { templateCases } from './templates.ts'
import { walk } from './walk.ts'

/** Projects that are installed and built at the same time. The longest preparations are the first. */
const preparationsMax = 2
const longest: readonly TemplateName[] = ['tiptap-next', 'blocknote']

const { values } = parseArgs({ options: { template: { type: 'string' }, keep: { type: 'boolean' } } })
const names = [...new Set([...longest, ...templateNames])].filter(
  (name) => values.template === undefined || name === values.template,
)
if (names.length === 0) {
  console.error(`no template ${values.template}; there are ${templateNames.join(', ')}`)
  process.exit(2)
}

const parent = mkdtempSync(join(tmpdir(), 'weft-templates-'))
const watch = new Stopwatch()
const browser = await openBrowser()
try {
  const installed = await PackageFolder.create(parent)
  watch.lap('[TPL-3] the tarball is installed in an empty folder')
  await serveFrom(installed)
  watch.lap('[TPL-3] `npx weft-server` serves, and ends by a signal')

  // All are used at the same time, because most of the time they wait for the end of a token.
  const preparations = new Semaphore({ total: preparationsMax })
  const walks = names.map((name) =>
    walk({ name, template: templateCases[name], installed, parent, preparations, browser }),
  )
  const results = await Promise.allSettled(walks)
  const failures = results.flatMap((result) =>
    result.status === 'rejected' ? [errorMessage(result.reason)] : [],
  )
  watch.end()
  if (failures.length > 0) throw new Error(failures.join('\n'))
} catch (error) {
  console.error(`failed: ${errorMessage(error)}`)
  process.exitCode = 1
} finally {
  await browser.close()
  if (values.keep) console.log(`the apps are in ${parent}`)
  else removeLater(parent)
}

async function serveFrom({ path }: PackageFolder): Promise<void> {
  const port = await freePort()
  const server = Shell.start('npx --no-install weft-server', path, { WEFT_PORT: String(port) })
  try {
    await server.printed(/listening/)
    for (const page of ['readyz', 'console', 'docs']) {
      const { status } = await fetch(`http://localhost:${port}/${page}`)
      if (status !== 200) throw new Error(`/${page} has the status ${status}`)
    }
  } finally {
    await server.end()
  }
}

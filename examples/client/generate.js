// Writes schema.d.ts, the types of all operations, from the OpenAPI document of a server (WEFT_URL), or of
// the built server of this repository. With --check it writes nothing, and fails if the file differs.
import { readFile, writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'
import { startWeft } from './weft-process.js'

const file = new URL('schema.d.ts', import.meta.url)

async function openApi() {
  const own = process.env.WEFT_URL === undefined ? await startWeft() : null
  try {
    return await (await fetch(`${process.env.WEFT_URL ?? own.url}/openapi.json`)).json()
  } finally {
    await own?.stop()
  }
}

/**
 * Returns the part that has types: without examples, headers, and the errors, which are the same for all
 * operations.
 */
function essence({ openapi, info, paths, components: { schemas } }) {
  const operations = Object.entries(paths).map(([path, { post }]) => {
    const { summary, description, requestBody, responses } = post
    const done = { description: 'Done.', content: responses[200].content }
    return [path, { post: { summary, description, requestBody, responses: { 200: done } } }]
  })
  const text = JSON.stringify({
    openapi,
    info,
    paths: Object.fromEntries(operations),
    components: { schemas },
  })
  return JSON.parse(text, (name, value) => (name === 'examples' ? undefined : value))
}

const types = astToString(await openapiTS(essence(await openApi())))
const made =
  `// Made by \`npm run generate\`, from /openapi.json: to be made again, not changed.\n${types}`.replace(
    /^( {4})+/gm,
    (spaces) => '\t'.repeat(spaces.length / 4),
  )

if (process.argv.includes('--check')) {
  const isSame = (await readFile(file, 'utf8')) === made
  console.log(
    isSame ? 'schema.d.ts is up to date' : 'schema.d.ts is out of date: `npm run generate` makes it again',
  )
  process.exitCode = isSame ? 0 : 1
} else {
  await writeFile(file, made)
  console.log(`schema.d.ts: ${made.split('\n').length} lines`)
}

import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { packageFile } from '../../src/core/base/package-file.ts'

interface Bundle {
  readonly name: string
  readonly source: string
  /** The export that a program uses. The endpoint of applications is not in bundles without it. */
  readonly only?: string
  /** Another entry point that it imports, and that does not count. */
  readonly without?: string
  readonly bytesMax: number
}

/** The bundles for browsers, with their maximum bytes with gzip. Packages that a page already has do not count. */
const bundles: readonly Bundle[] = [
  { name: 'weft-server/client', source: 'src/client/rest/index.ts', only: 'createClient', bytesMax: 8_192 },
  { name: 'weft-server/provider', source: 'src/client/provider/index.ts', bytesMax: 8_192 },
  {
    name: 'weft-server/react',
    source: 'src/client/react/index.ts',
    without: '../provider/index.ts',
    bytesMax: 4_096,
  },
  { name: 'weft-server/suggestions', source: 'src/client/suggestions/index.ts', bytesMax: 4_096 },
  { name: 'client/weft-socket.js', source: 'src/client/weft-socket.ts', bytesMax: 3_072 },
]

it('[PKG-31] each bundle for browsers is at most as large as its limit', async () => {
  const rows = await Promise.all(
    bundles.map(async ({ name, source, only, without, bytesMax }) => {
      const { outputFiles } = await build({
        absWorkingDir: fileURLToPath(packageFile('.')),
        stdin: {
          contents: `export ${only === undefined ? '*' : `{ ${only} }`} from './${source}'`,
          resolveDir: fileURLToPath(packageFile('.')),
        },
        bundle: true,
        write: false,
        platform: 'browser',
        format: 'esm',
        target: 'es2022',
        minify: true,
        packages: 'external',
        ...(without !== undefined && { external: [without] }),
      })
      const text = outputFiles[0]?.text ?? ''
      return { name, bytes: text.length, gzip: gzipSync(text, { level: 9 }).length, bytesMax }
    }),
  )
  console.table(rows)
  expect(rows.filter(({ gzip, bytesMax }) => gzip === 0 || gzip > bytesMax)).toEqual([])
})

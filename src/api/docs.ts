import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { packageFile } from '../config/package-file.ts'
import type { Page, PageContent } from './page.ts'

/** Everything comes from this server, and what is not in a file does not run. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Weft: REST service</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="docs"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`

/** Runs in the browser. Credentials stay in the page's memory, and no validator elsewhere sees the document. */
const startScript = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  docExpansion: 'list',
  displayRequestDuration: true,
  persistAuthorization: false,
  queryConfigEnabled: false,
  tryItOutEnabled: true,
  validatorUrl: null,
})
`

/** Swagger UI over `/openapi.json`, with which every operation can be tried. */
export const docsPages = (): readonly Page[] => [
  { path: '/docs', calls: 1, content: () => page('text/html', html) },
  { path: '/docs/start.js', calls: 1, content: () => page('text/javascript', startScript) },
  filePage('text/css', 'swagger-ui.css'),
  filePage('text/javascript', 'swagger-ui-bundle.js'),
]

/** Read when it is asked for the first time, and kept: each reader would have a copy of its own to wait for. */
function filePage(type: string, name: string): Page {
  let read: Buffer | null = null
  return {
    path: `/docs/${name}`,
    calls: 1,
    async content() {
      read ??= await bytesOf(name)
      return page(type, read)
    },
  }
}

const page = (type: string, text: string | Buffer): PageContent => ({
  kind: 'text',
  type: `${type}; charset=utf-8`,
  text,
  contentSecurityPolicy,
})

/** Where the build puts the files of Swagger UI, and where they are when the sources are run. */
const places = ['dist/api/swagger-ui/', 'node_modules/swagger-ui-dist/'] as const

async function bytesOf(name: string): Promise<Buffer> {
  const [built, source] = places.map((place) => packageFile(place + name)) as [URL, URL]
  return readFile(existsSync(built) ? built : source)
}

import { useState } from 'preact/hooks'
import type { CrdtGetDataItem } from '../../client/api/operation-types.ts'
import { useQuery, useServerVersion } from '../api/hooks.ts'
import { useSessionValue } from '../api/session-values.ts'
import type { EditorAddress } from '../documents/editor.ts'
import { DocumentListLinks, EditorTabs } from '../documents/editor-tabs.tsx'
import { href, type PageProps } from '../routing/route.ts'
import { Select } from '../ui/controls.tsx'
import { CodeSample } from '../ui/copy.tsx'
import { Notice, Reading, ReadState } from '../ui/notice.tsx'
import { type Language, languages } from './rest-call-code.ts'
import {
  type EditorLibrary,
  editorLibraries,
  libraryOf,
  type PresentRoot,
  showsRoot,
  snippetsFor,
} from './snippets.ts'

/** Page `#/connect/{organization}/{document}/{editor}`, which also exists for a document without content. */
export default function ConnectPage({ rest }: PageProps) {
  const [organizationId = '', documentId = '', editorId = 'main'] = rest
  const address = { organizationId, documentId, editorId }
  return (
    <>
      <DocumentListLinks organizationId={organizationId} />
      <h1>{documentId}</h1>
      <p class="hint">Editor {editorId}</p>
      <EditorTabs address={address} view="connect" />
      <ConnectView address={address} />
    </>
  )
}

/** Shows code with which a page and a backend connect to one editor. */
function ConnectView({ address }: { readonly address: EditorAddress }) {
  const { data: server, error, loading } = useServerVersion()
  // The error NOT_FOUND means that the editor has no content yet.
  const roots = useQuery<readonly CrdtGetDataItem[]>('/v2/crdt/get', { ...address, format: 'roots' })
  const [chosen, setLibrary] = useState<EditorLibrary | null>(null)
  const [language = 'curl', setLanguage] = useSessionValue<Language>(
    'language',
    languages.map(([name]) => name),
  )
  if (server === null) return <ReadState error={error} loading={loading} />
  if (roots.loading && roots.data === null) return <Reading />
  const listed = (roots.data?.[0]?.data ?? []) as readonly PresentRoot[]
  const present = listed.find(({ type }) => type !== 'none') ?? null
  const library = chosen ?? (present === null ? 'y-websocket' : libraryOf(present))
  const fits = present === null || showsRoot(library, present)
  const samples = snippetsFor(server.publicUrl, address, { library, language }, present)
  const { install, editor, token, write } = samples
  return (
    <>
      <div class="row chooser">
        <Select<EditorLibrary>
          label="Editor library"
          value={library}
          options={editorLibraries}
          onChange={setLibrary}
        />
        <Select<Language> label="Backend" value={language} options={languages} onChange={setLanguage} />
      </div>
      {!fits && (
        <Notice>
          This editor has the root <code>{present.contentKey}</code> of the type <code>{present.type}</code>,
          which this library does not show. The code below uses another root.
        </Notice>
      )}
      <h2>1. Your backend requests a token</h2>
      <p>
        Set <code>KEY</code> to the API key and <code>TOKEN</code> to its auth token (
        <a href={href('keys')}>Keys and domains</a>). Both stay in your backend: a page gets the token of its
        user only.
      </p>
      <CodeSample label="the token request" code={token} />
      <h2>2. Your page opens the document</h2>
      <CodeSample label="the packages" code={install} />
      <CodeSample label="the page" code={editor} />
      <h2>3. Your backend writes into the document</h2>
      <p>
        {present === null || !fits
          ? 'The call writes content in the form of the selected editor library.'
          : 'The call adds to the present content.'}{' '}
        Open editors show it at once.
      </p>
      <CodeSample label="the write request" code={write} />
      <p>
        <a href="/docs/editors">Connect an editor</a> describes further editors, close codes and
        acknowledgments.
      </p>
    </>
  )
}

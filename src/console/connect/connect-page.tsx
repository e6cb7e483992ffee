import { useState } from 'preact/hooks'
import { useServerVersion } from '../api/hooks.ts'
import type { EditorAddress } from '../documents/editor.ts'
import { DocumentListLinks, EditorTabs } from '../documents/editor-tabs.tsx'
import { href, type PageProps } from '../routing/route.ts'
import { Select } from '../ui/controls.tsx'
import { CodeSample } from '../ui/copy.tsx'
import { ReadState } from '../ui/notice.tsx'
import { type Language, languages } from './rest-call-code.ts'
import { type EditorLibrary, editorLibraries, snippetsFor } from './snippets.ts'

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
  const [library, setLibrary] = useState<EditorLibrary>('y-websocket')
  const [language, setLanguage] = useState<Language>('curl')
  if (server === null) return <ReadState error={error} loading={loading} />
  const { install, editor, token, write } = snippetsFor(server.publicUrl, address, { library, language })
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
        The call replaces the content in the form of the selected editor library. Open editors show it at
        once.
      </p>
      <CodeSample label="the write request" code={write} />
      <p>
        <a href="/docs/editors">Connect an editor</a> describes further editors, close codes and
        acknowledgments.
      </p>
    </>
  )
}

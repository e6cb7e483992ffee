import { useState } from 'preact/hooks'
import { useAction, useApi, useCall } from '../calls.ts'
import { Button, Field } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { Empty, Outcome, Problem } from '../ui/notice.tsx'
import { Table } from '../ui/table.tsx'

const path = '/v2/workspace/domains'

/** Of which pages may connect and call with the API key in force. */
export function Domains({ apiKey }: { readonly apiKey: string }) {
  const api = useApi()
  const { data, error, reload } = useCall<{ readonly allowedDomains: readonly string[] }>(`${path}/get`)
  const [typed, setTyped] = useState('')
  const add = useAction(async () => {
    await api.call(`${path}/add`, { domains: [typed] })
    setTyped('')
    reload()
    return 'Added.'
  })
  const remove = useAction(async (domain: string) => {
    await api.call(`${path}/delete`, { domains: [domain] })
    reload()
    return `${domain} is removed.`
  })
  return (
    <section aria-label="Domains">
      <h2>Domains</h2>
      <p class="hint">
        Of the API key <code>{apiKey}</code>: once it has some, pages of other domains may neither connect nor
        call.
      </p>
      <Problem error={error} />
      {data?.allowedDomains.length === 0 && <Empty>None: pages of all domains may connect.</Empty>}
      {data !== null && data.allowedDomains.length > 0 && (
        <Table
          caption="Domains"
          items={data.allowedDomains}
          keyOf={(domain) => domain}
          columns={[
            { title: 'Domain', cell: (domain) => <code>{domain}</code> },
            {
              title: '',
              cell: (domain) => (
                <Button label={`Remove ${domain}`} busy={remove.busy} onClick={() => void remove.run(domain)}>
                  Remove
                </Button>
              ),
            },
          ]}
        />
      )}
      <Form label="Add a domain" inline onSubmit={() => void add.run()}>
        <Field
          label="Domain"
          placeholder="www.example.com, or *.example.com"
          value={typed}
          onInput={setTyped}
          required
        />
        <Button type="submit" busy={add.busy}>
          Add domain
        </Button>
      </Form>
      <Outcome error={add.error ?? remove.error} done={add.done ?? remove.done} />
    </section>
  )
}

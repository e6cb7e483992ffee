import { useState } from 'preact/hooks'
import { useAction, useApi } from '../api/hooks.ts'
import { Button, Select } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { endpointEventTypes } from './webhook-types.ts'

interface TestFormProps {
  readonly endpointId: string
  readonly onSent: (messageId: string) => void
}

const options = endpointEventTypes.map((type) => [type, type] as const)

/** Shows a form that sends a signed test event. */
export function TestForm({ endpointId, onSent }: TestFormProps) {
  const api = useApi()
  const [eventType, setType] = useState<string>('webhook.test')
  const test = useAction(async () => {
    const path = '/v2/workspace/advancedwebhook/endpoints/test'
    const { messageId } = await api.call<{ messageId: string }>(path, {
      endpointId,
      eventType,
      waitSeconds: 0,
    })
    onSent(messageId)
  })
  return (
    <>
      <Form label="Send a test" inline onSubmit={() => void test.run()}>
        <Select label="Event of the test" value={eventType} options={options} onChange={setType} />
        <Button kind="primary" type="submit" busy={test.busy}>
          Send a test
        </Button>
      </Form>
      <ErrorNotice error={test.error} />
    </>
  )
}

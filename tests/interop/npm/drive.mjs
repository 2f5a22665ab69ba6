// Drives a runtime with the real npm client: `drive.mjs RUNTIME SCENARIO`. Prints what happened as `drive_sdk.py` does.
import { dirname } from 'node:path'
import { DeepSeekHarness, JsonRpcResponseError } from '@deepseek-ai/dsh-sdk-client'

// The signature of a PNG file, and no more.
const PNG = 'iVBORw0KGgo='

const told = (result) => ({
  session: result.sessionId,
  final: result.finalResponse,
  finish: result.events.findLast((event) => event.type === 'turn/end')?.data.reason.kind ?? null,
  events: result.events.map((event) => event.type),
  methods: result.notifications.map((notification) => notification.method),
})

const text = (words) => [{ type: 'text', text: words }]

const refused = async (promise) => {
  try {
    return ['no error', await promise]
  } catch (error) {
    if (!(error instanceof JsonRpcResponseError)) throw error
    return [error.code, error.message]
  }
}

const initialize = (client, changes) =>
  client.request('initialize', { cwd: process.cwd(), provider: 'echo', model: 'm', ...changes })

const scenarios = {
  async prompts(harness) {
    return [told(await harness.run('Say hello.', { sessionId: 's1' })), told(await harness.run('Again, 你好 🎉.', { sessionId: 's1' }))]
  },

  async overlap(harness) {
    await harness.start()
    const jobs = [['echo:slow 300 one', 's1'], ['two', 's1'], ['three', 's2']]
    return (await Promise.all(jobs.map(([words, sessionId]) => harness.run(words, { sessionId })))).map(told)
  },

  async subagent(harness) {
    await harness.start()
    const subscription = harness.client.subscribeSessionTree('s1')
    const run = told(await harness.run('echo:child echo:slow 20 Count the files.', { sessionId: 's1' }))
    const edges = []
    while (edges.at(-1)?.method !== 'subagent.finished') {
      const notification = await subscription.next()
      if (notification.method.startsWith('subagent.')) edges.push(notification)
    }
    subscription.close()
    return { run, started: edges[0].params, finished: edges.at(-1).params }
  },

  async errors(harness) {
    const { client } = harness
    client.start()
    return {
      early: await refused(client.prompt('s1', text('Too early.'))),
      provider: await refused(initialize(client, { provider: 'nobody' })),
      effort: await refused(initialize(client, { reasoningEffort: 'turbo' })),
      initialized: Boolean(await initialize(client, {})),
      image: await refused(client.prompt('s1', [{ type: 'image', data: PNG, mimeType: 'image/jpeg' }])),
      failed: told(await harness.run('echo:fail AUTH You may not.', { sessionId: 's2' })),
      capped: told(await harness.run('echo:max-tokens So far.', { sessionId: 's3' })),
    }
  },

  async invalid(harness) {
    await harness.start()
    const { client } = harness
    return {
      method: await refused(client.request('session/cancel', { sessionId: 's1' })),
      tokens: await refused(initialize(client, { maxTokens: 0 })),
    }
  },

  async methods(harness) {
    await harness.start()
    const { client } = harness
    const { cwd } = await client.request('session/working-directory/get', { sessionId: 's1' })
    const moved = await client.request('session/working-directory/set', { sessionId: 's1', path: dirname(cwd) })
    await client.prompt('s1', text('echo:slow 50 Hello.'))
    return {
      cwd: [cwd, moved.cwd],
      waited: await client.request('session/wait', { sessionId: 's1' }),
      resume: await refused(client.request('session/resume', { sessionId: 'nobody' })),
    }
  },

  async hang(harness) {
    await harness.start()
    return Boolean(await harness.client.prompt('s1', text('echo:hang Wait.')))
  },
}

const [runtime, scenario] = process.argv.slice(2)
const harness = new DeepSeekHarness({ launch: { command: runtime, args: ['--profile', 'sdk'], env: process.env } })
let found
try {
  found = await scenarios[scenario](harness)
} finally {
  await harness.close()
}
process.stdout.write(JSON.stringify(found))

import { describeStreamsIn } from '../helpers/processes/redis-suite.ts'
import { StreamServer } from '../helpers/servers/stream-server.ts'

describeStreamsIn('a server of streams', () => StreamServer.open())

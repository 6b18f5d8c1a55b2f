import type { Known } from './known.ts';

/**
 * More popular servers, of which only the purpose is known. A function, so that the table is not created before it is
 * needed.
 */
export function brands(): Readonly<Record<string, Known>> {
  return {
    everything: {
      purpose: 'trying out every feature of MCP: tools, resources, prompts, sampling and progress',
      programs: ['@modelcontextprotocol/server-everything', 'mcp-server-everything', 'mcp/everything'],
    },

    // Clouds, hosting and what runs there.
    azure: {
      purpose:
        'Azure resources: storage, databases, Key Vault, Kubernetes, monitoring, deployments and costs',
      programs: ['@azure/mcp', 'azmcp', 'msmcp-azure', 'mcr.microsoft.com/azure-sdk/azure-mcp'],
    },
    'azure-devops': {
      purpose: 'Azure DevOps: work items, repositories, pull requests, pipelines and wikis',
      programs: ['@azure-devops/mcp', 'mcp-server-azuredevops', '@tiberriver256/mcp-server-azure-devops'],
    },
    aws: {
      purpose: 'AWS services and resources: looking them up, managing them, and building on them',
      programs: [
        'awslabs.aws-api-mcp-server',
        'awslabs.core-mcp-server',
        'awslabs.cdk-mcp-server',
        'awslabs.aws-iac-mcp-server',
        'awslabs.aws-serverless-mcp-server',
        'awslabs.ccapi-mcp-server',
        'awslabs.cfn-mcp-server',
        'awslabs.cloudwatch-mcp-server',
        'awslabs.cost-explorer-mcp-server',
        'awslabs.dynamodb-mcp-server',
        'awslabs.ecs-mcp-server',
        'awslabs.eks-mcp-server',
        'awslabs.lambda-tool-mcp-server',
        'mcp-proxy-for-aws',
      ],
    },
    'google-cloud': {
      purpose: 'Google Cloud: running gcloud commands, deploying services, logs and storage',
      programs: [
        '@google-cloud/gcloud-mcp',
        '@google-cloud/cloud-run-mcp',
        '@google-cloud/observability-mcp',
      ],
    },
    firebase: {
      purpose: 'Firebase projects: Firestore, authentication, hosting, functions and security rules',
      programs: ['firebase-tools'],
    },
    vercel: {
      purpose: 'Vercel projects: deployments, build and runtime logs, domains and documentation',
      programs: ['@open-mcp/vercel', 'vercel-mcp-adapter'],
      addresses: ['mcp.vercel.com'],
    },
    netlify: {
      purpose: 'Netlify sites: creating, deploying and configuring them, and their forms and variables',
      programs: ['@netlify/mcp'],
      addresses: ['netlify-mcp.netlify.app'],
    },
    heroku: {
      purpose: 'Heroku apps: deploying, scaling, logs, add-ons, pipelines and Postgres',
      programs: ['@heroku/mcp-server'],
      addresses: ['mcp.heroku.com'],
    },
    railway: {
      purpose: 'Railway projects: services, deployments, variables and logs',
      programs: ['@railway/mcp-server', '@jasontanswe/railway-mcp'],
    },
    render: {
      purpose: 'Render services: deploys, logs, metrics and Postgres queries',
      programs: ['@niyogi/render-mcp'],
      addresses: ['mcp.render.com'],
    },
    digitalocean: {
      purpose: 'DigitalOcean: apps, droplets, databases, Kubernetes and networking',
      programs: ['@digitalocean/mcp'],
    },
    terraform: {
      purpose: 'Terraform: provider and module documentation, workspaces and runs',
      programs: ['hashicorp/terraform-mcp-server'],
    },
    pulumi: {
      purpose: 'Pulumi: previewing and deploying stacks, and looking up resources in its registry',
      programs: ['@pulumi/mcp-server'],
      addresses: ['mcp.ai.pulumi.com'],
    },

    // Databases and search.
    neon: {
      purpose: 'Neon Postgres: projects, branches, SQL, migrations and query tuning',
      programs: ['@neondatabase/mcp-server-neon'],
      addresses: ['mcp.neon.tech'],
    },
    prisma: {
      purpose: 'Prisma: managing Prisma Postgres databases, schemas and migrations',
      programs: ['prisma'],
      addresses: ['mcp.prisma.io'],
    },
    planetscale: {
      purpose: 'PlanetScale databases: schemas, branches, queries and insights',
      programs: ['pscale'],
      addresses: ['mcp.pscale.dev'],
    },
    convex: {
      purpose: 'Convex deployments: tables, functions, logs and environment variables',
      programs: ['convex'],
    },
    elasticsearch: {
      purpose: 'searching and inspecting Elasticsearch indices: mappings, queries, shards',
      programs: ['@elastic/mcp-server-elasticsearch', 'docker.elastic.co/mcp/elasticsearch'],
    },
    opensearch: {
      purpose: 'searching and inspecting OpenSearch indices and clusters',
      programs: ['opensearch-mcp-server-py'],
    },
    clickhouse: {
      purpose: 'querying ClickHouse databases with SQL, and listing their tables',
      programs: ['mcp-clickhouse'],
      addresses: ['mcp.clickhouse.cloud'],
    },
    snowflake: {
      purpose: 'querying Snowflake with SQL, Cortex search and its objects',
      programs: ['mcp_snowflake_server', 'snowflake-labs-mcp'],
    },
    bigquery: {
      purpose: 'querying BigQuery with SQL, and looking at its datasets and tables',
      programs: ['@ergut/mcp-bigquery-server'],
    },
    databricks: {
      purpose: 'Databricks: SQL, notebooks, jobs, clusters and Unity Catalog',
      programs: ['databricks-mcp-server'],
    },
    duckdb: {
      purpose: 'querying DuckDB and MotherDuck databases and local files with SQL',
      programs: ['mcp-server-motherduck'],
    },
    neo4j: {
      purpose: 'querying and changing a Neo4j graph with Cypher, by its schema',
      programs: ['mcp-neo4j-cypher', 'mcp-neo4j-memory', 'mcp-neo4j-data-modeling', 'mcp/neo4j-cypher'],
    },
    qdrant: {
      purpose: 'storing texts in Qdrant, and finding them again by meaning',
      programs: ['mcp-server-qdrant'],
    },
    chroma: {
      purpose: 'Chroma collections: adding documents and finding them by meaning',
      programs: ['chroma-mcp'],
    },
    pinecone: {
      purpose: 'Pinecone indexes: creating them, upserting records, searching by meaning, documentation',
      programs: ['@pinecone-database/mcp'],
    },
    couchbase: {
      purpose: 'Couchbase buckets and documents: reading, writing and SQL++ queries',
      programs: ['couchbase-mcp-server'],
    },
    dbhub: {
      purpose: 'exploring and querying SQL databases: PostgreSQL, MySQL, SQL Server, MariaDB, SQLite',
      programs: ['@bytebase/dbhub', 'bytebase/dbhub'],
    },
    mssql: {
      purpose: 'querying Microsoft SQL Server databases with SQL',
      programs: ['microsoft_sql_server_mcp', 'mssql-mcp-node'],
    },
    algolia: {
      purpose: 'Algolia: searching and managing indices, and search analytics',
      programs: ['@algolia/mcp-node'],
    },

    // Monitoring and running software.
    grafana: {
      purpose: 'Grafana: dashboards, Prometheus and Loki queries, alerts and incidents',
      programs: ['mcp-grafana', 'grafana/mcp-grafana'],
      addresses: ['mcp.grafana.com'],
    },
    datadog: {
      purpose: 'Datadog: logs, metrics, traces, monitors, dashboards and incidents',
      programs: ['@winor30/mcp-server-datadog', 'datadog_mcp_cli'],
      addresses: ['mcp.datadoghq.com', 'mcp.datadoghq.eu'],
    },
    pagerduty: {
      purpose: 'PagerDuty: incidents, services, schedules, on-calls and escalation policies',
      programs: ['pagerduty-mcp'],
      addresses: ['mcp.pagerduty.com'],
    },
    'new-relic': {
      purpose: 'New Relic: NRQL queries, entities, alerts, errors and logs',
      programs: ['newrelic-mcp'],
      addresses: ['mcp.newrelic.com'],
    },
    honeycomb: {
      purpose: 'Honeycomb: querying traces and events, SLOs and triggers',
      programs: ['@honeycombio/honeycomb-mcp'],
      addresses: ['mcp.honeycomb.io'],
    },
    circleci: {
      purpose: 'CircleCI: build failures, flaky tests, pipeline status and running pipelines',
      programs: ['@circleci/mcp-server-circleci'],
    },
    buildkite: {
      purpose: 'Buildkite: pipelines, builds, jobs, logs and test results',
      programs: ['buildkite/mcp-server'],
      addresses: ['mcp.buildkite.com'],
    },
    sonarqube: {
      purpose: 'SonarQube: code issues, quality gates, measures and security hotspots',
      programs: ['mcp/sonarqube', 'sonarsource/sonarqube-mcp-server'],
    },
    semgrep: {
      purpose: 'scanning code for security problems with Semgrep',
      programs: ['semgrep-mcp'],
      addresses: ['mcp.semgrep.ai'],
    },
    snyk: {
      purpose: 'scanning code, dependencies, containers and infrastructure for vulnerabilities with Snyk',
      programs: ['snyk'],
    },
    postman: {
      purpose: 'Postman: collections, environments, specs, mocks and workspaces',
      programs: ['@postman/postman-mcp-server'],
      addresses: ['mcp.postman.com'],
    },
    launchdarkly: {
      purpose: 'LaunchDarkly: feature flags, their targeting and AI configs',
      programs: ['@launchdarkly/mcp-server'],
    },
    posthog: {
      purpose: 'PostHog: insights, dashboards, feature flags, experiments, errors and surveys',
      programs: ['@posthog/mcp'],
      addresses: ['mcp.posthog.com'],
    },
    mixpanel: {
      purpose: 'Mixpanel: querying events, funnels, retention and dashboards',
      programs: ['mixpanel-mcp'],
      addresses: ['mcp.mixpanel.com'],
    },
    'google-analytics': {
      purpose: 'Google Analytics: reports on traffic, users and events',
      programs: ['analytics-mcp'],
    },

    // Browsers, phones, and tools for developers.
    browserbase: {
      purpose: 'controlling browsers in the cloud with Browserbase: opening pages, acting, extracting data',
      programs: [
        '@browserbasehq/mcp',
        '@browserbasehq/mcp-server-browserbase',
        '@browserbasehq/mcp-stagehand',
        'mcp/browserbase',
      ],
      addresses: ['mcp.browserbase.com'],
    },
    'browser-mcp': {
      purpose: "controlling the user's own browser: opening pages, clicking, typing, screenshots",
      programs: ['@browsermcp/mcp'],
    },
    'browser-use': {
      purpose: 'letting an agent do tasks in a web browser',
      programs: ['browser-use'],
      addresses: ['api.browser-use.com'],
    },
    selenium: {
      purpose: 'controlling a web browser with Selenium: opening, clicking, typing, screenshots',
      programs: ['@angiejones/mcp-selenium'],
    },
    'mobile-mcp': {
      purpose: 'controlling iOS and Android devices and simulators: apps, taps, text, screenshots',
      programs: ['@mobilenext/mobile-mcp'],
    },
    xcodebuild: {
      purpose: 'building, testing and running Xcode projects, and controlling simulators',
      programs: ['xcodebuildmcp'],
    },
    'ios-simulator': {
      purpose: 'controlling the iOS simulator: taps, text, screenshots and the accessibility tree',
      programs: ['ios-simulator-mcp'],
    },
    'next-devtools': {
      purpose: 'debugging a running Next.js app, upgrading it, and its documentation',
      programs: ['next-devtools-mcp'],
    },
    shadcn: {
      purpose: 'finding and adding shadcn/ui components from registries',
      programs: ['shadcn', '@jpisnice/shadcn-ui-mcp-server'],
    },
    magic: {
      purpose: 'making user interface components from a description with 21st.dev Magic',
      programs: ['@21st-dev/magic'],
    },
    eslint: {
      purpose: 'linting JavaScript and TypeScript files with ESLint',
      programs: ['@eslint/mcp'],
    },
    nx: {
      purpose: 'an Nx workspace: its projects, their dependencies, generators and CI runs',
      programs: ['nx-mcp'],
    },
    angular: {
      purpose: 'Angular: best practices, documentation and examples, and the projects of a workspace',
      programs: ['@angular/cli'],
    },
    svelte: {
      purpose: 'Svelte: documentation, and checking and fixing components',
      programs: ['@sveltejs/mcp'],
      addresses: ['mcp.svelte.dev'],
    },
    serena: {
      purpose: 'finding and editing code by its symbols, with a language server',
      programs: ['serena', 'serena-agent', 'serena-mcp-server'],
    },
    jetbrains: {
      purpose: 'working in a JetBrains IDE: files, search, refactoring, run configurations',
      programs: ['@jetbrains/mcp-proxy'],
    },
    repomix: {
      purpose: 'packing a whole repository into one file for a model to read',
      programs: ['repomix'],
    },
    'task-master': {
      purpose: 'planning software projects: turning requirements into tasks and tracking them',
      programs: ['task-master-ai'],
    },
    blender: {
      purpose: 'building and changing 3D scenes in Blender',
      programs: ['blender-mcp'],
    },
    unity: {
      purpose: 'controlling the Unity editor: scenes, assets, scripts and tests',
      programs: ['mcp-unity', 'com.ivanmurzak.unity.mcp.server'],
    },
    excel: {
      purpose: 'reading and writing Excel workbooks: sheets, cells, formulas and charts',
      programs: ['@negokaz/excel-mcp-server', 'excel-mcp-server'],
    },
    markitdown: {
      purpose: 'turning files and web pages (PDF, Office, HTML, images) into Markdown',
      programs: ['markitdown-mcp', 'mcp/markitdown'],
    },
    pdf: {
      purpose: 'reading PDF documents',
      programs: ['@modelcontextprotocol/server-pdf', '@sylphx/pdf-reader-mcp'],
    },

    // The web and its content.
    perplexity: {
      purpose: 'asking Perplexity, which searches the web and answers with sources',
      programs: ['@perplexity-ai/mcp-server', 'server-perplexity-ask', 'mcp/perplexity-ask'],
    },
    kagi: { purpose: 'searching the web and summarising pages with Kagi', programs: ['kagimcp'] },
    duckduckgo: {
      purpose: 'searching the web with DuckDuckGo and reading pages',
      programs: ['duckduckgo-mcp-server', 'mcp/duckduckgo'],
    },
    searxng: { purpose: 'searching the web with a SearXNG instance', programs: ['mcp-searxng'] },
    jina: {
      purpose: 'reading web pages, searching the web, papers and images with Jina',
      programs: ['jina-mcp-tools'],
      addresses: ['mcp.jina.ai'],
    },
    apify: {
      purpose: 'running Apify actors that extract data from web sites, social media and shops',
      programs: ['@apify/actors-mcp-server'],
      addresses: ['mcp.apify.com'],
    },
    brightdata: {
      purpose: 'searching the web and reading pages that block bots, with Bright Data',
      programs: ['@brightdata/mcp'],
      addresses: ['mcp.brightdata.com'],
    },
    wikipedia: { purpose: 'finding and reading Wikipedia articles', programs: ['wikipedia-mcp'] },
    arxiv: {
      purpose: 'searching arXiv, and downloading and reading its papers',
      programs: ['arxiv-mcp-server'],
    },
    deepwiki: {
      purpose: 'documentation of GitHub repositories, and answers to questions on them',
      programs: ['mcp-deepwiki'],
      addresses: ['mcp.deepwiki.com'],
    },
    gitmcp: {
      purpose: 'documentation and code of a GitHub project',
      programs: [],
      addresses: ['gitmcp.io', '.gitmcp.io'],
    },
    'microsoft-learn': {
      purpose: 'finding and reading Microsoft documentation and code samples',
      programs: [],
      addresses: ['learn.microsoft.com'],
    },
    'hugging-face': {
      purpose: 'Hugging Face: finding models, datasets, papers and Spaces, and running some of them',
      programs: ['@llmindset/hf-mcp-server'],
      addresses: ['huggingface.co', 'hf.co'],
    },
    replicate: {
      purpose: 'finding and running machine learning models on Replicate',
      programs: ['replicate-mcp'],
      addresses: ['mcp.replicate.com'],
    },
    elevenlabs: {
      purpose: 'speech with ElevenLabs: text to speech, voices, transcripts and sound effects',
      programs: ['elevenlabs-mcp'],
    },
    youtube: {
      purpose: 'YouTube: transcripts, and finding videos and channels',
      programs: ['@kimtaeyoon83/mcp-server-youtube-transcript', 'mcp/youtube-transcript'],
    },

    // Work, shops and money.
    gmail: {
      purpose: 'Gmail: searching, reading, writing and labelling mail',
      programs: ['@gongrzhe/server-gmail-autoauth-mcp', 'mcp-gsuite'],
    },
    'google-calendar': {
      purpose: 'Google Calendar: finding, creating and changing events, and free times',
      programs: ['@cocal/google-calendar-mcp'],
    },
    'google-workspace': {
      purpose: 'Google Workspace: Gmail, Calendar, Drive, Docs, Sheets and Chat',
      programs: ['workspace-mcp'],
    },
    'google-sheets': {
      purpose: 'reading, writing and creating Google Sheets',
      programs: ['mcp-google-sheets'],
    },
    'microsoft-365': {
      purpose: 'Microsoft 365: Outlook mail and calendar, OneDrive files, Excel, Teams, To Do and Planner',
      programs: ['@softeria/ms-365-mcp-server', '@microsoft/workiq'],
    },
    todoist: {
      purpose: 'Todoist: finding, adding, changing and completing tasks and projects',
      programs: ['@doist/todoist-ai', '@abhiz123/todoist-mcp-server', '@greirson/mcp-todoist'],
      addresses: ['ai.todoist.net'],
    },
    asana: {
      purpose: 'Asana: tasks, projects, portfolios, goals and comments',
      programs: ['@roychri/mcp-server-asana'],
      addresses: ['mcp.asana.com'],
    },
    trello: {
      purpose: 'Trello: boards, lists, cards, checklists and comments',
      programs: ['@delorenj/mcp-server-trello'],
    },
    monday: {
      purpose: 'monday.com: boards, items, columns, updates and forms',
      programs: ['@mondaydotcomorg/monday-api-mcp'],
      addresses: ['mcp.monday.com'],
    },
    clickup: {
      purpose: 'ClickUp: tasks, lists, documents, time tracking and comments',
      programs: ['@taazkareem/clickup-mcp-server'],
      addresses: ['mcp.clickup.com'],
    },
    airtable: {
      purpose: 'Airtable: bases, tables, fields, and reading and writing records',
      programs: ['airtable-mcp-server', '@felores/airtable-mcp-server'],
      addresses: ['mcp.airtable.com'],
    },
    hubspot: {
      purpose: 'HubSpot CRM: contacts, companies, deals, tickets, notes and their associations',
      programs: ['@hubspot/mcp-server'],
      addresses: ['mcp.hubspot.com'],
    },
    salesforce: {
      purpose: 'Salesforce: querying and changing records, metadata, Apex and org management',
      programs: ['@salesforce/mcp', '@tsmztech/mcp-server-salesforce'],
    },
    intercom: {
      purpose: 'Intercom: finding and reading conversations and contacts',
      programs: [],
      addresses: ['mcp.intercom.com'],
    },
    zendesk: {
      purpose: 'Zendesk: tickets, comments and help centre articles',
      programs: [],
    },
    shopify: {
      purpose:
        'building for Shopify: documentation, API schemas, and checking GraphQL, Liquid and components',
      programs: ['@shopify/dev-mcp'],
    },
    paypal: {
      purpose: 'PayPal: invoices, orders, payments, refunds, subscriptions and disputes',
      programs: ['@paypal/mcp'],
      addresses: ['mcp.paypal.com'],
    },
    square: {
      purpose: 'Square: payments, orders, customers, catalogue and invoices',
      programs: ['square-mcp-server'],
      addresses: ['mcp.squareup.com'],
    },
    twilio: { purpose: 'Twilio: messages, calls and its other APIs', programs: ['@twilio-alpha/mcp'] },
    resend: { purpose: 'sending mail with Resend', programs: ['mcp-send-email'] },
    discord: { purpose: 'Discord: reading and sending messages, channels and servers', programs: [] },
    telegram: { purpose: 'Telegram: reading and sending messages, chats and contacts', programs: [] },
    whatsapp: { purpose: 'WhatsApp: finding and sending messages, chats and contacts', programs: [] },
    zapier: {
      purpose: 'actions in the apps that are connected to Zapier',
      programs: [],
      addresses: ['mcp.zapier.com', 'actions.zapier.com'],
    },
    n8n: { purpose: 'n8n: documentation of nodes, and building and running workflows', programs: [] },
    contentful: {
      purpose: 'Contentful: entries, assets, content types and environments',
      programs: ['@contentful/mcp-server'],
    },
    sanity: {
      purpose: 'Sanity: documents, GROQ queries, schemas, releases and datasets',
      programs: ['@sanity/mcp-server'],
      addresses: ['mcp.sanity.io'],
    },
    wordpress: {
      purpose: 'WordPress sites: posts, pages, media and settings',
      programs: ['@automattic/mcp-wordpress-remote'],
    },
    webflow: {
      purpose: 'Webflow sites: pages, CMS collections, styles and components',
      programs: ['webflow-mcp-server'],
      addresses: ['mcp.webflow.com'],
    },
    wix: {
      purpose: 'Wix sites: building and managing them, and documentation of its APIs',
      programs: ['@wix/mcp'],
      addresses: ['mcp.wix.com'],
    },
    canva: {
      purpose: 'Canva: finding, creating, editing and exporting designs',
      programs: ['@canva/cli'],
      addresses: ['mcp.canva.com'],
    },
    miro: { purpose: 'Miro boards: reading and adding items', programs: [], addresses: ['mcp.miro.com'] },
    box: {
      purpose: 'Box: finding, reading and asking about files',
      programs: [],
      addresses: ['mcp.box.com'],
    },
    mem0: {
      purpose: 'remembering facts across conversations with Mem0, and finding them again',
      programs: ['@mem0/mcp-server'],
      addresses: ['mcp.mem0.ai'],
    },
    'basic-memory': {
      purpose: 'keeping notes as Markdown files that link to each other, and finding them again',
      programs: ['basic-memory'],
    },
  };
}

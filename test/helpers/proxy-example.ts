/** The example of the specification of `mcp-proxy-server`, word for word. */
export const PROXY_EXAMPLE = `{
  "mcpServers": {
    "ServerName1": {
      "command": "/path/to/server1/build/index.js",
      "exposedTools": ["tool1", { "original": "tool2", "exposed": "renamed_tool2" }]
    },
    "ServerName2": {
      "command": "npx",
      "args": ["@example/mcp-server", "--option", "value"],
      "hiddenTools": ["tool3"]
    },
    "ServerName3": {
      "type": "sse",
      "url": "http://example.com/mcp"
    }
  },
  "tools": {
    "CustomToolName": {
      "description": "Description of the custom tool",
      "subtools": {
        "ServerName1": {
          "tools": [
            {
              "name": "toolA",
              "description": "Description of tool A"
            }
          ]
        },
        "ServerName2": {
          "tools": [
            {
              "name": "toolB",
              "description": "Description of tool B"
            }
          ]
        }
      }
    }
  }
}
`;
